/* Where the kernel enters the helper, and the one function that must own its stack pointer. */
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

/* long clone_sharing_memory(void *stack_top, void (*entry)(void *), void *argument, long flags, unsigned *cleared) */
	.globl	_ZN9sallyport5spawn6helper20clone_sharing_memoryEPvPFvS2_ES2_lPj
	.type	_ZN9sallyport5spawn6helper20clone_sharing_memoryEPvPFvS2_ES2_lPj, @function
_ZN9sallyport5spawn6helper20clone_sharing_memoryEPvPFvS2_ES2_lPj:
	and	$-16, %rdi
	sub	$16, %rdi
	mov	%rsi, 0(%rdi)
	mov	%rdx, 8(%rdi)
	mov	%rdi, %rsi
	mov	%rcx, %rdi
	xor	%edx, %edx
	mov	%r8, %r10
	xor	%r8d, %r8d
	mov	$56, %eax
	syscall
	test	%rax, %rax
	jnz	1f
	xor	%ebp, %ebp
	pop	%rax
	pop	%rdi
	call	*%rax
	hlt
1:	ret
	.size	_ZN9sallyport5spawn6helper20clone_sharing_memoryEPvPFvS2_ES2_lPj, .-_ZN9sallyport5spawn6helper20clone_sharing_memoryEPvPFvS2_ES2_lPj
