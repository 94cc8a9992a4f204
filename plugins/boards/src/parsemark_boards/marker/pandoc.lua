-- Texts of a JSON list from standard input: Markdown to HTML and back, as pandoc's own program does it.
local dialect = "markdown+tex_math_dollars"

local function ended(text)
  return text:sub(-1) == "\n" and text or text .. "\n"
end

local out = {}
for k, text in ipairs(pandoc.json.decode(io.read("a"), false)) do
  local html = ended(pandoc.write(pandoc.read(text, dialect), "html"))
  out[k] = ended(pandoc.write(pandoc.read(html, "html"), dialect))
end
io.write(pandoc.json.encode(out))
