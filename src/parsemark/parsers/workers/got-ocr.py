# /// script
# dependencies = [
#   "torch==2.13.0", "torchvision==0.28.0", "transformers==5.17.0", "safetensors==0.8.0", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "GOT-OCR 2.0: a page as Mathpix Markdown, with LaTeX formulas and tables"
# licence = "Apache-2.0"
# homepage = "https://github.com/Ucas-HaoranWei/GOT-OCR2.0"
# gives = ["markdown", "latex", "text"]
# needs = ["folder:GOT_OCR_WEIGHTS"]
# paper = "OmniDocBench: GOT-OCR"
# weight-files = ["config.json", "tokenizer.json", "*.safetensors"]
# options.formatted.default = true
# options.formatted.about = "Whether tables and formulas are written as LaTeX; else plain text"
# options.dpi = { default = 150, about = "Resolution at which the page is read" }
# [[tool.parsemark.weights]]
# source = "hf:stepfun-ai/GOT-OCR-2.0-hf@main"
# licence = "Apache-2.0"
# ///
"""got-ocr: `GotOcr2ForConditionalGeneration` of transformers."""

from functools import cache

from parsemark_layout import serve_models, weights_folder
from parsemark_pages import open_page, picture
from parsemark_worker import text_output

WEIGHTS = weights_folder("GOT_OCR_WEIGHTS")
MAX_TOKENS = 4096


@cache
def model():
    import torch
    from transformers import AutoProcessor, GotOcr2ForConditionalGeneration

    network = GotOcr2ForConditionalGeneration.from_pretrained(WEIGHTS).eval()
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    return network, AutoProcessor.from_pretrained(WEIGHTS)


def parse(pdf, page, options):
    import torch

    with open_page(pdf, page) as opened:
        image = picture(opened, options["dpi"])
    network, processor = model()
    inputs = processor(image, return_tensors="pt", format=options["formatted"]).to(network.device)
    with torch.inference_mode():
        tokens = network.generate(
            **inputs,
            do_sample=False,
            tokenizer=processor.tokenizer,
            stop_strings="<|im_end|>",
            max_new_tokens=MAX_TOKENS,
        )
    said = processor.decode(tokens[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return text_output("markdown" if options["formatted"] else "text", said.removesuffix("<|im_end|>"))


if __name__ == "__main__":
    serve_models(parse, lambda _: model(), WEIGHTS, ["transformers", "torch", "pypdfium2"])
