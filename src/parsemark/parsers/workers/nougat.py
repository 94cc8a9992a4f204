# /// script
# dependencies = [
#   "torch==2.13.0", "transformers==5.17.0", "safetensors==0.8.0", "python-Levenshtein==0.27.3",
#   "nltk==3.9.2", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "Nougat: a page of a scientific paper as Markdown with LaTeX formulas and tables"
# licence = "MIT (weights: CC-BY-NC-4.0)"
# homepage = "https://github.com/facebookresearch/nougat"
# gives = ["markdown", "latex"]
# needs = ["folder:NOUGAT_WEIGHTS"]
# paper = "OmniDocBench: Nougat"
# weight-files = ["config.json", "preprocessor_config.json", "tokenizer.json", "*.safetensors"]
# [[tool.parsemark.weights]]
# source = "hf:facebook/nougat-base@main"
# files = ["*.json", "model.safetensors"]
# licence = "CC-BY-NC-4.0"
# restricted = true
# ///
"""nougat: transformers' `NougatProcessor` and encoder-decoder (the project's own package stands still)."""

import re
from functools import cache

from parsemark_layout import serve_models, weights_folder
from parsemark_pages import open_page, picture
from parsemark_worker import text_output

WEIGHTS = weights_folder("NOUGAT_WEIGHTS")
DPI = 96  # what Nougat was trained on
MISSING = re.compile(r"\[MISSING_PAGE[A-Z_]*(?::\d+)?\]")  # where repetitions were cut, or inventions


@cache
def model():
    import torch
    from transformers import NougatProcessor, VisionEncoderDecoderModel

    network = VisionEncoderDecoderModel.from_pretrained(WEIGHTS).eval()
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    return network, NougatProcessor.from_pretrained(WEIGHTS)


def parse(pdf, page, options):
    import torch

    with open_page(pdf, page) as opened:
        image = picture(opened, DPI)
    network, processor = model()
    pixels = processor(image, return_tensors="pt").pixel_values.to(network.device, network.dtype)
    with torch.inference_mode():
        tokens = network.generate(
            pixels,
            min_length=1,
            max_new_tokens=network.decoder.config.max_position_embeddings - 2,
            bad_words_ids=[[processor.tokenizer.unk_token_id]],
            do_sample=False,
        )
    (said,) = processor.batch_decode(tokens, skip_special_tokens=True)
    return read(processor.post_process_generation(said, fix_markdown=False))


def read(said):
    """Nougat's Markdown. A page of which only marks are left was given up: a failure, not an empty page."""
    kept = MISSING.sub("", said)
    if said.strip() and not kept.strip():
        raise RuntimeError(f"Nougat gave this page up: {said.strip()[:60]}")
    return text_output("markdown", kept.strip())


if __name__ == "__main__":
    serve_models(parse, lambda _: model(), WEIGHTS, ["transformers", "torch", "pypdfium2"])
