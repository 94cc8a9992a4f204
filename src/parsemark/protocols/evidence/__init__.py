"""Agreement of outputs with the text and pictures of the PDF, without truth."""
