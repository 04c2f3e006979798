/* Where the kernel enters the CLI: the jail is begun here, and only then is libc made ready (early_jail.h). */
	.section .note.GNU-stack, "", @progbits
	.section .text.sallyport_entry, "ax", @progbits
	.globl	sallyport_entry
	.type	sallyport_entry, @function
sallyport_entry:
	xor	%ebp, %ebp
	mov	%rdx, %rbx		/* libc's _start wants the stack pointer and %rdx as the kernel left them */
	mov	%rsp, %r12
	mov	%rsp, %rdi
	call	sallyport_before_libc	/* the kernel leaves the stack aligned for this */
	mov	%r12, %rsp
	mov	%rbx, %rdx
	jmp	_start
	.size	sallyport_entry, .-sallyport_entry
