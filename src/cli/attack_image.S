/* The attack program, as bytes: `doctor --attack` needs nothing beside sallyport itself. Pages that are never read cost a
   start nothing. */
	.section .note.GNU-stack, "", @progbits
	.section .rodata
	.balign	4096
	.globl	sallyport_attack_image_begin
	.globl	sallyport_attack_image_end
sallyport_attack_image_begin:
	.incbin	SALLYPORT_ATTACK_IMAGE
sallyport_attack_image_end:
