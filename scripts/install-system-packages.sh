#!/usr/bin/env bash
# Installs the Debian packages that the tests and the corpus generator use. Where apt is missing or not
# permitted it says so and succeeds: what needs a missing program is skipped or refused with its own message.
set -euo pipefail

packages=(
  chromium poppler-utils tesseract-ocr tesseract-ocr-eng fonts-dejavu-core
  texlive-latex-base texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended
  latex-cjk-chinese latex-cjk-chinese-arphic-gkai00mp
  texlive-science texlive-plain-generic texlive-pictures lmodern cm-super-minimal
)

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
