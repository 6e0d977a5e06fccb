" Vim syntax of gml, made by tools/make_editor.sh
if exists("b:current_syntax")
  finish
endif
syn keyword gmlDeclare gml import config layer data phase run let param state fn
syn keyword gmlStatement next return yield for minimize metric output assert repeat every save stop if scan as on in then else over using when tag
syn keyword gmlLogic and or not
syn keyword gmlType f32 f64 bf16 i32 bool int float string dim
syn keyword gmlConstant true false none inf pi
syn match gmlOperator "|>\|->\|\.\.\|[=!<>]=\|//\|[-+*/@%^<>=~]"
syn match gmlNumber "\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][-+]\?\d\+\)\?\>"
syn match gmlCall "\<\(abs\|all\|any\|argmax\|argsort\|atan2\|bitcast\|ceil\|concat\|cos\|cummax\|cumprod\|cumsum\|elu\|erf\|erfinv\|exp\|expand\|expm1\|floor\|gelu\|iota\|isfinite\|log\|log1p\|logsigmoid\|logsumexp\|max\|mean\|min\|orthonormal\|permute\|pinv\|prod\|put\|put_max\|relu\|reshape\|round\|rsqrt\|search\|sigmoid\|sign\|silu\|sin\|softmax\|softplus\|solve_spd\|sqrt\|stop_grad\|sum\|tan\|tanh\|trunc\|where\|xent\)\ze("
syn match gmlMember "\.\@<!\.[A-Za-z_]\w*"
syn match gmlName "\<[A-Za-z_]\w*\ze\s*\(:\|==\@!\)"
syn region gmlString start=+"+ skip=+\\.+ end=+"+ end=+$+
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
