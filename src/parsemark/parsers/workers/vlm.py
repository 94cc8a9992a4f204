# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0", "pillow==13.0.0"]
#
# [tool.parsemark]
# about = "Vision-language models behind any server that speaks OpenAI's chat protocol; presets are data"
# licence = "by model"
# homepage = "https://platform.openai.com/docs/api-reference/chat"
# gives = ["markdown", "html", "text"]
# paid = true
# paper = "Soric et al.: LVLM; OmniDocBench and Horn & Keuper: the vision-language models"
# weights = "none here: a server (vLLM or another) at VLM_BASE_URL has them, with a key in VLM_API_KEY if any"
#
# [tool.parsemark.options.model]
# default = ""
# about = "The server's name of the model, where it differs from the preset's"
#
# [tool.parsemark.options.base_url]
# default = ""
# about = "The server's address, where it differs from the preset's"
#
# [tool.parsemark.options.preset]
# default = "gpt-4o-mini-tables"
# about = "Prompt, picture size, output format, clean-up and price (vlm.json)"
# choices = [
#   "gpt-4o-mini-tables", "gpt-4o-tables", "gpt-4o", "gpt-4o-mini",
#   "gpt-5", "gpt-5-mini", "gpt-5-nano", "gemini-2.5-pro",
#   "gemini-2.5-flash", "claude-sonnet-4", "qwen2-vl-72b", "qwen2.5-vl-72b",
#   "qwen3-vl-235b", "internvl2-76b", "internvl3-78b", "glm-4.5v",
#   "dots.ocr", "deepseek-ocr", "lightonocr-2", "nanonets-ocr-s",
#   "olmocr-2", "chandra", "monkeyocr", "mineru2.5",
#   "paddleocr-vl",
# ]
#
# [tool.parsemark.options.preset.choice-needs]
# "gpt-4o-mini-tables" = ["env:OPENAI_API_KEY"]
# "gpt-4o-tables" = ["env:OPENAI_API_KEY"]
# "gpt-4o" = ["env:OPENAI_API_KEY"]
# "gpt-4o-mini" = ["env:OPENAI_API_KEY"]
# "gpt-5" = ["env:OPENAI_API_KEY"]
# "gpt-5-mini" = ["env:OPENAI_API_KEY"]
# "gpt-5-nano" = ["env:OPENAI_API_KEY"]
# "gemini-2.5-pro" = ["env:GEMINI_API_KEY"]
# "gemini-2.5-flash" = ["env:GEMINI_API_KEY"]
# "claude-sonnet-4" = ["env:ANTHROPIC_API_KEY"]
# "qwen2-vl-72b" = ["env:VLM_BASE_URL"]
# "qwen2.5-vl-72b" = ["env:VLM_BASE_URL"]
# "qwen3-vl-235b" = ["env:VLM_BASE_URL"]
# "internvl2-76b" = ["env:VLM_BASE_URL"]
# "internvl3-78b" = ["env:VLM_BASE_URL"]
# "glm-4.5v" = ["env:VLM_BASE_URL"]
# "dots.ocr" = ["env:VLM_BASE_URL"]
# "deepseek-ocr" = ["env:VLM_BASE_URL"]
# "lightonocr-2" = ["env:VLM_BASE_URL"]
# "nanonets-ocr-s" = ["env:VLM_BASE_URL"]
# "olmocr-2" = ["env:VLM_BASE_URL"]
# "chandra" = ["env:VLM_BASE_URL"]
# "monkeyocr" = ["env:VLM_BASE_URL"]
# "mineru2.5" = ["env:VLM_BASE_URL"]
# "paddleocr-vl" = ["env:VLM_BASE_URL"]
# ///
"""vlm: one page's picture and a prompt to an OpenAI-compatible server; what it answers, cleaned.

A preset says everything that differs between models. Prompts are the authors' own as far as we know them.
Soric et al. print theirs as a picture: `gpt-4o-mini-tables` asks for the same thing in our words.
"""

import base64
import io
import json
import os
import re
from pathlib import Path

from parsemark_http import call
from parsemark_pages import open_page, picture
from parsemark_worker import add_cost, block, elements_output, serve, table, text_output

PRESETS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
DOTS = {
    "Caption": "text_block",
    "Footnote": "page_footnote",
    "Formula": "equation_isolated",
    "List-item": "text_block",
    "Page-footer": "footer",
    "Page-header": "header",
    "Picture": "figure",
    "Section-header": "title",
    "Text": "text_block",
    "Title": "title",
}


def parse(pdf, page, options):
    preset = PRESETS[options["preset"]]
    with open_page(pdf, page) as opened:
        width, height = opened.get_size()
        image = picture(opened, 72 * preset["longest_side"] / max(width, height))
    answer = ask(preset, options, encoded(image))
    content = cleaned(answer, preset["clean"])
    if preset["format"] == "dots":
        return dots(content, (width / image.width, height / image.height))
    return text_output(preset["format"], content)


def encoded(image):
    stream = io.BytesIO()
    image.save(stream, "png")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def ask(preset, options, image):
    """The model's answer. Rate limits and passing failures are waited for; the key goes into no message."""
    server = options["base_url"] or preset["base_url"]
    if server == "VLM_BASE_URL":
        server = os.environ["VLM_BASE_URL"]
    key = os.environ.get(preset["key"] or "VLM_API_KEY", "")
    content = [{"type": "image_url", "image_url": {"url": image, "detail": "high"}}]
    if preset["prompt"]:
        content.append({"type": "text", "text": preset["prompt"]})
    body = {
        "model": options["model"] or preset["model"],
        "messages": [{"role": "user", "content": content}],
        **preset["extra"],
    }
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = call("POST", server.rstrip("/") + "/chat/completions", json=body, headers=headers).json()
    pay(preset, reply.get("usage"))
    choice = reply["choices"][0]
    text = choice["message"].get("content")
    if not isinstance(text, str):
        raise ValueError(f"the model gave no text (it stopped because of {choice.get('finish_reason')!r})")
    return text


def pay(preset, usage):
    """What the page cost, by the tokens that the server counted; nothing where the price is unknown."""
    price = preset["usd_per_million"]
    if price and isinstance(usage, dict):
        add_cost(
            (usage.get("prompt_tokens", 0) * price[0] + usage.get("completion_tokens", 0) * price[1]) / 1e6
        )


# --- Cleaning -------------------------------------------------------------------------------------------


def cleaned(text, steps):
    for step in steps:
        text = CLEANERS[step](text)
    return text


def without_fence(text):
    """The inside of a code fence, where the whole answer is one."""
    lines = text.strip().split("\n")
    if len(lines) > 1 and lines[0].startswith("```"):
        lines = lines[1:-1] if lines[-1].strip() == "```" else lines[1:]
    return "\n".join(lines)


def without_thoughts(text):
    return text.rsplit("</think>", 1)[-1]


def without_front_matter(text):
    if text.lstrip().startswith("---"):
        parts = text.lstrip().split("---", 2)
        return parts[2] if len(parts) == 3 else text
    return text


def without_grounding(text):
    """DeepSeek-OCR writes `<|ref|>text<|/ref|><|det|>[[…]]<|/det|>` before each block."""
    return re.sub(r"<\|ref\|>[^<]{0,200}<\|/ref\|>|<\|det\|>[^<]{0,2000}<\|/det\|>", "", text)


def without_marks(text):
    return re.sub(r"<(page_number|watermark|img)>[^<]{0,2000}</\1>", "", text)


def without_boxes(text):
    return text.replace("<|begin_of_box|>", "").replace("<|end_of_box|>", "")


CLEANERS = {
    "fence": without_fence,
    "think": without_thoughts,
    "front_matter": without_front_matter,
    "grounding": without_grounding,
    "nanonets": without_marks,
    "glm": without_boxes,
}


def dots(content, scale):
    """dots.ocr answers with a list of elements, in reading order, with boxes in the picture's pixels."""
    data = json.loads(content)
    items = data if isinstance(data, list) else next(v for v in data.values() if isinstance(v, list))
    elements, texts = [], []
    for order, item in enumerate(items):
        x0, y0, x1, y1 = item["bbox"]
        box = (x0 * scale[0], y0 * scale[1], x1 * scale[0], y1 * scale[1])
        text = item.get("text") or ""
        if item["category"] == "Table":
            elements.append({**table(html=text, box=box), "order": order})
        else:
            elements.append(
                block(DOTS.get(item["category"], "text_block"), text or None, box=box, order=order)
            )
        texts.append(text)
    return elements_output(elements, markdown="\n\n".join(t for t in texts if t))


if __name__ == "__main__":
    serve(parse, versions=["httpx", "pypdfium2"])
