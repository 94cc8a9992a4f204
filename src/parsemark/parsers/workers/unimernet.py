# /// script
# dependencies = [
#   "torch==2.13.0", "torchvision==0.28.0", "unimernet==0.2.3", "rapid-layout==1.2.1", "onnxruntime==1.31.1",
#   "pypdfium2==5.14.0",
# ]
# [tool.uv]
# override-dependencies = [
#   "numpy==1.26.4", "opencv-python==4.11.0.86", "opencv-python-headless==4.11.0.86",
# ]
# [tool.parsemark]
# about = "UniMERNet: the LaTeX of displayed formulas, which rapid-layout finds on the page"
# licence = "Apache-2.0"
# homepage = "https://github.com/opendatalab/UniMERNet"
# gives = ["latex", "boxes", "confidence"]
# needs = ["folder:UNIMERNET_WEIGHTS"]
# paper = "OmniDocBench: UniMERNet among the formula models"
# weight-files = ["config.json", "preprocessor_config.json", "tokenizer.json", "*.pth"]
# options.min_confidence.default = 0.3
# options.min_confidence.about = "Formulas that are found with less confidence are not read"
# [[tool.parsemark.weights]]
# source = "hf:wanderkid/unimernet_base@main"
# files = ["*.json", "*.pth"]
# licence = "Apache-2.0"
# ///
"""unimernet: the package's own model and processor, on each displayed formula of the page."""

from functools import cache

from parsemark_layout import formulas_output, serve_models, weight_files, weights_folder

WEIGHTS = weights_folder("UNIMERNET_WEIGHTS")
MODEL = {
    "model_name": "unimernet",
    "model_config": {"model_name": str(WEIGHTS), "max_seq_len": 1536},
    "tokenizer_name": "nougat",
    "tokenizer_config": {"path": str(WEIGHTS)},
    "load_pretrained": True,
}
"""As in the project's `configs/demo.yaml`."""


@cache
def model():
    import torch
    from omegaconf import OmegaConf
    from unimernet.models.unimernet.unimernet import UniMERModel
    from unimernet.processors import load_processor

    config = OmegaConf.create({**MODEL, "pretrained": str(weight_files(WEIGHTS, ("*.pth",))[0])})
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = UniMERModel.from_config(config).to(device).eval()
    processor = load_processor("formula_image_eval", OmegaConf.create({"image_size": [192, 672]}))
    return network, processor, device


def parse(pdf, page, options):
    return formulas_output(pdf, page, read, options["min_confidence"])


def read(image):
    network, processor, device = model()
    return network.generate({"image": processor(image).unsqueeze(0).to(device)})["pred_str"][0]


if __name__ == "__main__":
    serve_models(parse, lambda _: model(), WEIGHTS, ["unimernet", "rapid-layout", "torch", "pypdfium2"])
