/* long sallyport_clone_sharing_memory(void *stack_top, void (*entry)(void *), void *argument, long flags,
 *                                     unsigned *cleared)
 * In the child the stack pointer is another one, so it can expect nothing but registers and what is put on its stack here.
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl	sallyport_clone_sharing_memory
	.hidden	sallyport_clone_sharing_memory
	.type	sallyport_clone_sharing_memory, @function
sallyport_clone_sharing_memory:
	and	$-16, %rdi
	sub	$16, %rdi
	mov	%rsi, 0(%rdi)
	mov	%rdx, 8(%rdi)
	mov	%rdi, %rsi	/* clone(flags, stack, parent_tid, child_tid, tls) */
	mov	%rcx, %rdi
	xor	%edx, %edx
	mov	%r8, %r10
	xor	%r8d, %r8d
	mov	$56, %eax	/* __NR_clone */
	syscall
	test	%rax, %rax
	jnz	1f
	xor	%ebp, %ebp
	pop	%rax
	pop	%rdi
	call	*%rax
	hlt
1:	ret
	.size	sallyport_clone_sharing_memory, .-sallyport_clone_sharing_memory
