# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0", "pillow==13.0.0"]
# [tool.parsemark]
# network = true
# variables = ["VLM_BASE_URL", "VLM_API_KEY", "VLM_MODEL"]
# about = "Vision-language models behind any server that speaks OpenAI's chat protocol; presets are data"
# licence = "by model"
# homepage = "https://platform.openai.com/docs/api-reference/chat"
# gives = ["markdown", "html", "text"]
# paid = true
# paper = "Soric et al.: LVLM; OmniDocBench and Horn & Keuper: the vision-language models"
# weights-note = "none here: a server (vLLM or another) at VLM_BASE_URL has them; VLM_API_KEY if it asks"
# options.model.default = ""
# options.model.about = "The server's name of the model, where it differs from the preset's"
# options.base_url = { default = "", about = "The server's address, where it differs from the preset's" }
# [tool.parsemark.options.preset]
# default = "gpt-4o-mini-tables"
# about = "Prompt, picture size, output format, clean-up and price (vlm.json)"
# choices = [
#   "gpt-4o-mini-tables", "soric", "gpt-4o-tables", "gpt-4o", "gpt-4o-mini",
#   "gpt-5", "gpt-5-mini", "gpt-5-nano", "gemini-2.5-pro",
#   "gemini-2.5-flash", "claude-sonnet-4", "qwen2-vl-72b", "qwen2.5-vl-72b",
#   "qwen3-vl-235b", "internvl2-76b", "internvl3-78b", "glm-4.5v",
#   "dots.ocr", "deepseek-ocr", "lightonocr-2", "nanonets-ocr-s",
#   "olmocr-2", "chandra", "monkeyocr", "monkeyocr-table",
#   "monkeyocr-formula", "mineru2.5", "paddleocr-vl", "paddleocr-vl-table",
#   "paddleocr-vl-formula",
# ]
# [tool.parsemark.options.preset.choice-needs]
# "gpt-4o-mini-tables" = ["env:OPENAI_API_KEY"]
# "soric" = ["env:OPENAI_API_KEY"]
# "gpt-4o-tables" = ["env:OPENAI_API_KEY"]
# "gpt-4o" = ["env:OPENAI_API_KEY"]
# "gpt-4o-mini" = ["env:OPENAI_API_KEY"]
# "gpt-5" = ["env:OPENAI_API_KEY"]
# "gpt-5-mini" = ["env:OPENAI_API_KEY"]
# "gpt-5-nano" = ["env:OPENAI_API_KEY"]
# "gemini-2.5-pro" = ["env:GEMINI_API_KEY"]
# "gemini-2.5-flash" = ["env:GEMINI_API_KEY"]
# "claude-sonnet-4" = ["env:ANTHROPIC_API_KEY"]
# "*" = ["env:VLM_BASE_URL"]
# ///
"""vlm: one page's picture and a prompt to an OpenAI-compatible server; what it answers, cleaned.

A preset says everything that differs between models. Prompts are the authors' own as far as we know them.
`soric` is the prompt that Soric et al. print (A.2, Figure 11); `gpt-4o-mini-tables` asks it in our words.
"""

import base64
import io
import json
import math
import os
from pathlib import Path

import parsemark_answers as answers
from parsemark_http import call
from parsemark_pages import open_page, picture
from parsemark_worker import add_cost, serve, text_output

PRESETS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
SMALLEST_SIDE, LONGEST_SHAPE = 28, 50  # to which a block's picture is enlarged or padded, as by MinerU


def parse(pdf, page, options):
    preset = PRESETS[options["preset"]]
    with open_page(pdf, page) as opened:
        size = opened.get_size()
        image = picture(opened, 72 * preset["longest_side"] / max(size))
    if step := preset.get("multiple_of"):  # its own patches: it would else resize, and its boxes shift
        image = image.resize(tuple(max(step, round(side / step) * step) for side in image.size))
    if preset["format"] == "mineru":
        return by_blocks(preset, options, image, size)
    content = answers.cleaned(ask(preset, options, image), preset["clean"])
    if preset["format"] == "dots":
        return answers.dots_output(content, image.size, size)
    if preset["format"] == "deepseek":
        return answers.deepseek_output(content, size)
    if preset["format"] == "chandra":
        return answers.chandra_output(content, preset["box_scale"], size)
    return text_output(preset["format"], content)


def by_blocks(preset, options, image, size):
    """MinerU2.5: the layout from a small square picture, then each block from its own."""
    side = preset["square"]
    blocks = answers.mineru_layout(ask(preset, options, image.resize((side, side))), size)
    read, problem = [], None
    for block in blocks:
        if block.label == "image":
            read.append(block)
            continue
        step = preset["blocks"].get(block.label, preset["blocks"][""])
        crop = cut(image, block, image.width / size[0], image.height / size[1])
        try:
            read.append(block._replace(content=ask(preset, options, crop, step)))
        except ValueError as error:
            problem = error
    if problem is not None and not any(block.content for block in read):
        raise problem
    return answers.layout_output(read)


def cut(image, block, across, down):
    """A block's picture, upright, neither too small nor too long for the model."""
    x0, y0, x1, y1 = block.box
    corners = (math.floor(x0 * across), math.floor(y0 * down), math.ceil(x1 * across), math.ceil(y1 * down))
    crop = image.crop(corners).rotate(block.angle, expand=True)
    width, height = (max(side, math.ceil(max(crop.size) / LONGEST_SHAPE)) for side in crop.size)
    if (width, height) != crop.size:
        white = image.resize((width, height))
        white.paste((255, 255, 255), (0, 0, width, height))
        white.paste(crop, ((width - crop.width) // 2, (height - crop.height) // 2))
        crop = white
    larger = max(1.0, SMALLEST_SIDE / min(crop.size))
    return crop.resize(tuple(round(side * larger) for side in crop.size)) if larger > 1 else crop


def encoded(image):
    stream = io.BytesIO()
    image.save(stream, "png")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def ask(preset, options, image, step=None):
    """The model's answer, to the preset's prompt or that of a step; the key goes into no message."""
    server = options["base_url"] or preset["base_url"]
    if server == "VLM_BASE_URL":
        server = os.environ["VLM_BASE_URL"]
    key = os.environ.get(preset["key"] or "VLM_API_KEY", "")
    prompt = preset["prompt"] if step is None else step["prompt"]
    content = [{"type": "image_url", "image_url": {"url": encoded(image), "detail": "high"}}]
    if prompt:
        content.insert(0 if preset.get("text_first") else 1, {"type": "text", "text": prompt})
    system = [{"role": "system", "content": preset["system"]}] if "system" in preset else []
    body = {
        "model": options["model"] or preset["model"],
        "messages": [*system, {"role": "user", "content": content}],
        **preset["extra"],
        **(step["extra"] if step is not None else {}),
    }
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = call("POST", server.rstrip("/") + "/chat/completions", json=body, headers=headers).json()
    pay(preset, reply.get("usage"))
    choice = reply["choices"][0]
    text = answers.text_of(choice["message"])
    if text is None:
        raise ValueError(f"the model gave no text (it stopped because of {choice.get('finish_reason')!r})")
    return text


def pay(preset, usage):
    """What the page cost, by the tokens that the server counted; nothing where the price is unknown."""
    price = preset["usd_per_million"]
    if price and isinstance(usage, dict):
        tokens = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        add_cost((tokens[0] * price[0] + tokens[1] * price[1]) / 1e6)


if __name__ == "__main__":
    serve(parse, versions=["httpx", "pypdfium2"])
