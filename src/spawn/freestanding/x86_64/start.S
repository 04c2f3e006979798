/* Where the kernel enters the helper: helper_main gets the address of argc and argv. */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl	_start
	.type	_start, @function
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	helper_main
	hlt
	.size	_start, .-_start
