# /// script
# dependencies = [
#   "torch==2.13.0", "pix2tex==0.1.4", "rapid-layout==1.2.1", "onnxruntime==1.31.1", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "pix2tex (LaTeX-OCR): the LaTeX of displayed formulas, which rapid-layout finds on the page"
# licence = "MIT"
# homepage = "https://github.com/lukas-blecher/LaTeX-OCR"
# gives = ["latex", "boxes", "confidence"]
# needs = ["folder:PIX2TEX_WEIGHTS"]
# paper = "OmniDocBench: Pix2Tex among the formula models"
# weight-files = ["weights.pth", "image_resizer.pth"]
# options.min_confidence.default = 0.3
# options.min_confidence.about = "Formulas that are found with less confidence are not read"
# [[tool.parsemark.weights]]
# source = "https://github.com/lukas-blecher/LaTeX-OCR/releases/download/v0.0.1/weights.pth"
# licence = "MIT"
# [[tool.parsemark.weights]]
# source = "https://github.com/lukas-blecher/LaTeX-OCR/releases/download/v0.0.1/image_resizer.pth"
# licence = "MIT"
# ///
"""pix2tex: `LatexOCR` on each displayed formula of the page."""

from functools import cache

from parsemark_layout import formulas_output, serve_models, weights_folder

WEIGHTS = weights_folder("PIX2TEX_WEIGHTS")


@cache
def model():
    from munch import Munch
    from pix2tex import cli

    cli.clipboard.copy = lambda text: None  # else each formula would replace what the user has copied
    # The checkpoint's folder is asked for its resizer; the configuration is the package's own.
    checkpoint = str((WEIGHTS / "weights.pth").resolve())
    settings = {"config": "settings/config.yaml", "checkpoint": checkpoint}
    return cli.LatexOCR(Munch(**settings, no_cuda=False, no_resize=False))


def parse(pdf, page, options):
    return formulas_output(pdf, page, read, options["min_confidence"])


def read(image):
    """The formula's LaTeX. Tokens are drawn at a temperature: with a seed, so that a page reads the same."""
    import torch

    torch.manual_seed(0)
    return model()(image)


if __name__ == "__main__":
    serve_models(parse, lambda _: model(), WEIGHTS, ["pix2tex", "rapid-layout", "torch", "pypdfium2"])
