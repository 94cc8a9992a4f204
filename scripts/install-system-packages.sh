#!/usr/bin/env bash
# Installs the Debian packages that the tests and the corpus generator use. Where apt is missing or not
# permitted it says so and succeeds: what needs a missing program is skipped or refused with its own message.
#
#   scripts/install-system-packages.sh [--fonts-extra]
#
# --fonts-extra adds texlive-fonts-extra (half a gigabyte), which a few real LaTeX documents need.
set -euo pipefail

packages=(
  chromium poppler-utils tesseract-ocr tesseract-ocr-eng fonts-dejavu-core
  wordnet-base # docling-eval's METEOR
  # Synthetic pages: Typst's fonts, LibreOffice for DOCX, LaTeX
  fonts-noto-core fonts-noto-cjk libreoffice-writer-nogui
  texlive-latex-base texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended
  texlive-science texlive-plain-generic texlive-pictures lmodern cm-super
  latex-cjk-chinese latex-cjk-chinese-arphic-gkai00mp latex-cjk-chinese-arphic-gbsn00lp
  # Real documents: the classes of publishers, bibliographies, other engines, EPS figures
  texlive-publishers texlive-bibtex-extra biber texlive-humanities texlive-pstricks feynmf
  texlive-xetex texlive-luatex tex-gyre ghostscript
  texlive-lang-english texlive-lang-european texlive-lang-french texlive-lang-german texlive-lang-spanish
  texlive-lang-portuguese texlive-lang-italian texlive-lang-polish texlive-lang-czechslovak texlive-lang-cyrillic
  texlive-lang-greek texlive-lang-cjk texlive-lang-chinese texlive-lang-japanese texlive-lang-korean
  texlive-lang-arabic texlive-lang-other
)
for argument in "$@"; do
  case "$argument" in
    --fonts-extra) packages+=(texlive-fonts-extra) ;;
    *) echo "usage: $0 [--fonts-extra]" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' \
    || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "No apt-get here; install by hand: ${missing[*]}" >&2
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "Not root and no password-less sudo; install by hand: sudo apt-get install ${missing[*]}" >&2
    exit 0
  fi
  as_root=(sudo -n)
fi
echo "Installing with apt: ${missing[*]}"
"${as_root[@]}" apt-get update -qq || true
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "apt-get failed; the tests that need these programs will be skipped: ${missing[*]}" >&2
fi
