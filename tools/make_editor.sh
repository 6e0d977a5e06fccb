#!/bin/sh
# Writes the syntax files of tools/editor from the token table (grammar/keywords.def) and the operator table: a TextMate
# grammar and the syntax of Vim. `make_editor.sh check` compares instead, for tests/docs.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# words CLASSES: the keywords of these classes, separated by blanks; true and false are constants.
words() {
    sed -nE "s/^K\(\"([a-z]+)\", [A-Z]+, ($1)\)/\1/p" grammar/keywords.def | grep -vxE 'true|false|and|or|not' | tr '\n' ' ' | sed 's/ $//'
}
declare=$(words 'ITEM'; printf ' let param state fn')
statement=$(words 'STATEMENT|EITHER|INSIDE' | tr ' ' '\n' | grep -vxE 'let|param|state|fn' | tr '\n' ' ' | sed 's/ $//')
logic='and or not'
types='f32 f64 bf16 i32 bool int float string dim'
constants='true false none inf pi'
operators=$(sed -nE 's/^(ELEM|REDUCE)\([a-z_0-9]+, "([a-z][a-z_0-9]*)".*/\2/p; s/^(OP|VIEW)\([a-z_0-9]+, "([a-z][a-z_0-9]*)".*/\2/p' kernels/ops.def | sort -u |
    tr '\n' ' ' | sed 's/ $//')
[ "$(echo "$declare $statement" | wc -w)" -ge 30 ] && [ "$(echo "$operators" | wc -w)" -ge 40 ] || {
    echo "the tables are not understood"
    exit 1
}
any() {
    echo "$1" | tr ' ' '|'
}

cat >"$out/gml.tmLanguage.json" <<EOT
{
  "name": "gml",
  "scopeName": "source.gml",
  "fileTypes": ["gml"],
  "firstLineMatch": "^gml 1\\\\b",
  "patterns": [
    { "name": "comment.line.documentation.gml", "match": "##.*\$" },
    { "name": "comment.line.number-sign.gml", "match": "#.*\$" },
    {
      "name": "string.quoted.double.gml", "begin": "\"", "end": "\"|\$",
      "patterns": [{ "name": "constant.character.escape.gml", "match": "\\\\\\\\[nt\"\\\\\\\\]" }]
    },
    { "name": "constant.numeric.gml", "match": "\\\\b[0-9][0-9_]*(\\\\.[0-9][0-9_]*)?([eE][-+]?[0-9_]+)?\\\\b" },
    { "match": "(\\\\.)([A-Za-z_][A-Za-z0-9_]*)", "captures": { "2": { "name": "variable.other.member.gml" } } },
    { "match": "\\\\b(layer|fn|phase|data)\\\\s+([A-Za-z_][A-Za-z0-9_]*)",
      "captures": { "1": { "name": "storage.type.gml" }, "2": { "name": "entity.name.function.gml" } } },
    { "name": "variable.parameter.gml", "match": "\\\\b[A-Za-z_][A-Za-z0-9_]*(?=\\\\s*(:|=(?!=)))" },
    { "name": "storage.type.gml", "match": "\\\\b($(any "$declare"))\\\\b" },
    { "name": "keyword.control.gml", "match": "\\\\b($(any "$statement"))\\\\b" },
    { "name": "keyword.operator.word.gml", "match": "\\\\b($(any "$logic"))\\\\b" },
    { "name": "constant.language.gml", "match": "\\\\b($(any "$constants"))\\\\b" },
    { "name": "support.type.gml", "match": "\\\\b($(any "$types"))\\\\b" },
    { "name": "support.function.gml", "match": "\\\\b($(any "$operators"))(?=\\\\s*\\\\()" },
    { "name": "keyword.operator.gml", "match": "\\\\|>|->|\\\\.\\\\.|[=!<>]=|//|[-+*/@%^<>=~]" }
  ]
}
EOT

cat >"$out/gml.vim" <<EOT
" Vim syntax of gml, made by tools/make_editor.sh
if exists("b:current_syntax")
  finish
endif
syn keyword gmlDeclare $declare
syn keyword gmlStatement $statement
syn keyword gmlLogic $logic
syn keyword gmlType $types
syn keyword gmlConstant $constants
syn match gmlOperator "|>\\|->\\|\\.\\.\\|[=!<>]=\\|//\\|[-+*/@%^<>=~]"
syn match gmlNumber "\\<\\d[0-9_]*\\(\\.\\d[0-9_]*\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?\\>"
syn match gmlCall "\\<\\($(echo "$operators" | sed 's/ /\\|/g')\\)\\ze("
syn match gmlMember "\\.\\@<!\\.[A-Za-z_]\\w*"
syn match gmlName "\\<[A-Za-z_]\\w*\\ze\\s*\\(:\\|==\\@!\\)"
syn region gmlString start=+"+ skip=+\\\\.+ end=+"+ end=+\$+
syn match gmlComment "#.*" contains=@Spell
syn match gmlDoc "##.*" contains=@Spell
hi def link gmlDeclare Structure
hi def link gmlStatement Statement
hi def link gmlLogic Operator
hi def link gmlType Type
hi def link gmlConstant Constant
hi def link gmlOperator Operator
hi def link gmlNumber Number
hi def link gmlCall Function
hi def link gmlString String
hi def link gmlComment Comment
hi def link gmlDoc SpecialComment
let b:current_syntax = "gml"
EOT

for file in gml.tmLanguage.json:tools/editor/gml.tmLanguage.json gml.vim:tools/editor/vim/syntax/gml.vim; do
    if [ "${1:-}" = check ]; then
        cmp "$out/${file%%:*}" "${file#*:}" || {
            echo "run sh tools/make_editor.sh"
            exit 1
        }
    else
        cp "$out/${file%%:*}" "${file#*:}"
    fi
done
