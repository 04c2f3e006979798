/* The spawn helper, as bytes: the library carries it, so there is nothing to install and nothing to be swapped. */
	.section .note.GNU-stack, "", @progbits
	.section .rodata
	.balign	16
	.globl	sallyport_helper_image_begin
	.globl	sallyport_helper_image_end
sallyport_helper_image_begin:
	.incbin	SALLYPORT_HELPER_IMAGE
sallyport_helper_image_end:
