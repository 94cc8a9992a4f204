# /// script
# dependencies = [
#   "torch==2.13.0", "torchvision==0.28.0", "gmft==0.4.4", "transformers==4.57.6", "timm==1.0.30",
#   "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "gmft: Table Transformer's detector and structure model with its own algorithm for the cells"
# licence = "MIT"
# homepage = "https://github.com/conjuncts/gmft"
# engine = "table-transformer"
# gives = ["cells", "boxes", "confidence"]
# needs = ["folder:TATR_WEIGHTS"]
# weight-files = [
#   "detection/config.json", "detection/preprocessor_config.json", "detection/model.safetensors",
#   "structure/config.json", "structure/model.safetensors",
# ]
# options.min_confidence.default = 0.05
# options.min_confidence.about = "Tables below this confidence are not reported; gmft's own default is 0.9"
# [[tool.parsemark.weights]]
# source = "hf:microsoft/table-transformer-detection@no_timm"
# files = ["config.json", "preprocessor_config.json", "model.safetensors"]
# folder = "detection"
# licence = "MIT"
# [[tool.parsemark.weights]]
# source = "hf:microsoft/table-transformer-structure-recognition@no_timm"
# files = ["config.json", "preprocessor_config.json", "model.safetensors"]
# folder = "structure"
# licence = "MIT"
# ///
"""gmft: `TATRDetector` and `TATRFormatter`; a table is its data frame, header rows first."""

from functools import cache

from parsemark_layout import serve_models, weights_folder
from parsemark_worker import elements_output, table

WEIGHTS = weights_folder("TATR_WEIGHTS")


@cache
def models(min_confidence):
    from gmft.core.ml import _huggingface
    from gmft.detectors.tatr import TATRDetector, TATRDetectorConfig
    from gmft.formatters.tatr import TATRFormatConfig, TATRFormatter

    _huggingface._load_tatr_from_pretrained = load
    detection, structure = str(WEIGHTS / "detection"), str(WEIGHTS / "structure")
    shared = {"image_processor_path": detection, "no_timm": False}
    finder = TATRDetectorConfig(detector_path=detection, detector_base_threshold=min_confidence, **shared)
    shaper = TATRFormatConfig(formatter_path=structure, enable_multi_header=True, verbosity=0, **shared)
    return TATRDetector(finder), TATRFormatter(shaper)


def load(folder, revision=None):
    """A network from its folder. Left alone, the published configuration fetches timm's ResNet first."""
    from transformers import TableTransformerConfig, TableTransformerForObjectDetection

    config = TableTransformerConfig.from_pretrained(folder, use_pretrained_backbone=False)
    return TableTransformerForObjectDetection.from_pretrained(folder, config=config)


def parse(pdf, page, options):
    from gmft.pdf_bindings.pdfium import PyPDFium2Document

    detector, formatter = models(options["min_confidence"])
    document = PyPDFium2Document(pdf)
    try:
        found = []
        for crop in detector.extract(document.get_page(page - 1)):
            try:
                rows = read(formatter.extract(crop).df())
            except ValueError:  # a crop in which gmft sees no rows or columns, or one upon the other
                rows = []
            found.append(table(rows, box=crop.rect.bbox, confidence=crop.confidence_score))
    finally:
        document.close()
    return elements_output(found)


def read(frame):
    """The rows of a data frame below the levels of its column names, if any; what is missing is empty."""
    import pandas

    levels = zip(*(name if isinstance(name, tuple) else (name,) for name in frame.columns), strict=True)
    head = [level for level in levels if any(not pandas.isna(v) and v for v in level)]
    rows = [*head, *frame.to_numpy(dtype=object).tolist()]
    return [["" if pandas.isna(v) else str(v) for v in row] for row in rows]


if __name__ == "__main__":
    versions = ["gmft", "transformers", "torch", "pypdfium2"]
    serve_models(parse, lambda options: models(options["min_confidence"]), WEIGHTS, versions)
