/* The grammar of gml 1. Reference: grammar/README.md.
 *
 * No conflicts, pure, with lookahead correction, so that the expected tokens of an error are exact. Actions only build
 * nodes; what a program means is decided in compiler/. Errors recover at the end of a statement (`error sep`), never
 * at a brace: argument braces look the same as blocks.
 */
%code requires {
#include "grammar/parse.h"
}
%define api.prefix {gmlyy}
%define api.pure full
%define api.location.type {struct range}
%define parse.error custom
%define parse.lac full
%define lr.type ielr
%expect 0
%locations
%param {struct parse *p}
%union {
    struct ast *node;
    struct ast_list list;
    const char *name;
}
%code {
#define YYMALLOC parse_alloc
#define YYFREE parse_free
#define YYLLOC_DEFAULT(cur, rhs, n)                                                                          \
    ((cur).start = (n) ? YYRHSLOC(rhs, 1).start : YYRHSLOC(rhs, 0).end, (cur).end = YYRHSLOC(rhs, n).end)
/* A node of kind k over the whole rule, with the given fields. */
#define N(k, ...) ast_make(p, &(struct ast){.kind = AST_##k, .span = parse_span(p, yyloc), __VA_ARGS__})
#define NAMED(text, at) .name = (text), .name_span = parse_span(p, at)
#define BIN(text, l, r) lint_product(p, N(BIN, .op = intern(p->names, text), .a = (l), .b = (r)))
#define LIST(x) ast_list_of(p, x)

static int gmlyylex(GMLYYSTYPE *value, struct range *at, struct parse *p);
static void gmlyyerror(struct range *at, struct parse *p, const char *message);
static struct ast *import_node(struct parse *p, struct range at, const char *path, bool quoted, const char *alias,
                               struct range alias_at);
static const char *join_names(struct parse *p, const char *a, const char *b);
static const char *check_best(struct parse *p, const char *word, struct range at);
}

%token END 0 "end of file" SEP "end of line" BAD "invalid character" START_FILE "start" START_EXPR "start of expression"
%token <name> ID "name" STR "string"
%token <node> NUM "number"
%token GML "gml" IMPORT "import" AS "as" CONFIG "config" LAYER "layer" FN "fn" DATA "data" PHASE "phase" ON "on" RUN "run"
%token LET "let" PARAM "param" STATE "state" NEXT "next" RETURN "return" YIELD "yield" FOR "for" IN "in" IF "if"
%token THEN "then" ELSE "else" SCAN "scan" MINIMIZE "minimize" OVER "over" USING "using" WHEN "when"
%token METRIC "metric" OUTPUT "output" TAG "tag" ASSERT "assert" REPEAT "repeat" EVERY "every" SAVE "save" STOP "stop"
%token AND "and" OR "or" NOT "not" TRUE "true" FALSE "false"
%token PIPE "|>" DOTS ".." ARROW "->" EQ "==" NE "!=" LE "<=" GE ">=" IDIV "//"

%precedence ELSE_BRANCH
%left OR
%left AND
%precedence NOT
%nonassoc EQ NE LE GE '<' '>'
%left '+' '-'
%left '*' '/' '@' '%' IDIV
%precedence NEG
%right '^'

%type <node> item config layer data phase run parameter member block run_block stmt run_stmt let state fn if_stmt
%type <node> type opt_type result base_type signature dim bind name_node opt_on
%type <node> expr ex scan postfix arg idx opt_ex iter
%type <list> params some_params members member_lines stmts lines run_stmts run_lines signatures dims binds pattern names
%type <list> tags exprs args some_args idxs iters
%type <name> opt_name opt_file qname best
%%
start: START_FILE items
 | START_EXPR expr opt_sep                  { p->root = $expr; }
 ;

/* -- Declarations. They are added to the file as they come, so that a later error loses none of them. */
items: %empty
 | items sep
 | items item sep                           { ast_push_declared(p, &p->root->list, $item); }
 | items error sep                          { yyerrok; }
 ;
sep: SEP | ';' ;
opt_sep: %empty | sep ;
opt_comma: %empty | ',' ;

item: GML NUM                               { $$ = N(EDITION, .num = $NUM->num, .str = $NUM->str); }
 | IMPORT STR                               { $$ = import_node(p, @$, $STR, true, NULL, @STR); }
 | IMPORT STR AS ID                         { $$ = import_node(p, @$, $STR, true, $ID, @ID); }
 | IMPORT qname                             { $$ = import_node(p, @$, $qname, false, NULL, @qname); }
 | IMPORT qname AS ID                       { $$ = import_node(p, @$, $qname, false, $ID, @ID); }
 | config | let | state | fn | layer | data | phase | run
 ;
config: CONFIG ID opt_type '=' expr         { $$ = N(CONFIG, NAMED($ID, @ID), .type = $opt_type, .a = $expr); } ;
layer: LAYER ID '{' params opt_sep '}' block
    { $$ = N(LAYER, NAMED($ID, @ID), .list = $params, .b = $block); }
 | LAYER ID '(' params ')' result block
    { $$ = N(LAYER, NAMED($ID, @ID), .list2 = $params, .type = $result, .b = $block, .is_int = true); }
 | LAYER ID '{' params[own] opt_sep '}' '(' params[entry] ')' result block
    { $$ = N(LAYER, NAMED($ID, @ID), .list = $own, .list2 = $entry, .type = $result, .b = $block, .is_int = true); }
 ;
result: %empty                              { $$ = NULL; }
 | ARROW type                               { $$ = $type; }
 ;
data: DATA ID opt_file open members '}'     { $$ = N(DATA, NAMED($ID, @ID), .str = $opt_file, .list = $members); } ;
opt_file: %empty                            { $$ = NULL; }
 | '=' STR                                  { $$ = $STR; }
 ;
members: member_lines
 | member_lines member                      { $$ = $1; ast_push_declared(p, &$$, $member); }
 ;
member_lines: %empty                        { $$ = (struct ast_list){0}; }
 | member_lines sep                         { $$ = $1; }
 | member_lines member sep                  { $$ = $1; ast_push_declared(p, &$$, $member); }
 | member_lines error sep                   { $$ = $1; yyerrok; }
 ;
member: ID opt_type '=' expr                { $$ = N(MEMBER, NAMED($ID, @ID), .type = $opt_type, .a = $expr); } ;
phase: PHASE ID block                       { $$ = N(PHASE, NAMED($ID, @ID), .b = $block); }
 | PHASE ID opt_on AS ID[alias] block       { $$ = N(PHASE, NAMED($2, @2), .a = $opt_on, .str = $alias, .b = $block); }
 ;
opt_on: ON postfix                          { $$ = $postfix; } ;
run: RUN run_block                          { $$ = N(RUN, .b = $run_block); } ;

params: %empty                              { $$ = (struct ast_list){0}; }
 | some_params
 | some_params ','                          { $$ = $1; }
 ;
some_params: parameter                      { $$ = (struct ast_list){0}; ast_push_declared(p, &$$, $parameter); }
 | some_params ',' parameter                { $$ = $1; ast_push_declared(p, &$$, $parameter); }
 ;
parameter: ID opt_type                      { $$ = N(PARAMETER, NAMED($ID, @ID), .type = $opt_type); }
 | ID opt_type '=' expr                     { $$ = N(PARAMETER, NAMED($ID, @ID), .type = $opt_type, .a = $expr); }
 ;

/* -- Types */
qname: ID
 | qname '.' ID                             { $$ = join_names(p, $1, $3); }
 ;
opt_type: %empty                            { $$ = NULL; }
 | ':' type                                 { $$ = $type; }
 ;
type: base_type
 | base_type '[' ']'                        { $$ = N(TYPE_ARRAY, .a = $base_type); }
 | base_type '[' dims ']'                   { $$ = N(TYPE_ARRAY, .a = $base_type, .list = $dims); }
 ;
base_type: qname                            { $$ = N(TYPE_NAME, NAMED($qname, @qname)); }
 | '(' signatures opt_comma ')'             { $$ = N(RECORD_TYPE, .list = $signatures); }
 ;
signatures: signature                       { $$ = LIST($1); }
 | signatures ',' signature                 { $$ = $1; ast_push(p, &$$, $3); }
 ;
signature: ID ':' type                      { $$ = N(PARAMETER, NAMED($ID, @ID), .type = $type); } ;
dims: dim                                   { $$ = LIST($1); }
 | dims ',' dim                             { $$ = $1; ast_push(p, &$$, $3); }
 ;
dim: ex
 | DOTS                                     { $$ = N(REST, .a = NULL); }
 | DOTS ID                                  { $$ = N(REST, NAMED($ID, @ID)); }
 ;

/* -- Statements */
open: '{'                                   { filter_block(p, @1); } ;
block: open stmts '}'                       { $$ = N(BLOCK, .list = $stmts); } ;
stmts: lines
 | lines stmt                               { $$ = $1; ast_push_declared(p, &$$, $stmt); }
 ;
lines: %empty                               { $$ = (struct ast_list){0}; }
 | lines sep                                { $$ = $1; }
 | lines stmt sep                           { $$ = $1; ast_push_declared(p, &$$, $stmt); }
 | lines error sep                          { $$ = $1; yyerrok; }
 ;
stmt: let | state | fn | if_stmt
 | PARAM ID ':' type '=' expr tags          { $$ = N(PARAM, NAMED($ID, @ID), .type = $type, .a = $expr, .list = $tags); }
 | PARAM ID ':' type '~' postfix tags
    { $$ = N(PARAM, NAMED($ID, @ID), .type = $type, .a = $postfix, .list = $tags, .is_int = true); }
 | NEXT postfix '=' expr                    { $$ = N(NEXT, .a = $postfix, .b = $expr); }
 | RETURN expr                              { $$ = N(RETURN, .a = $expr); }
 | YIELD binds                              { $$ = N(YIELD, .list = $binds); }
 | FOR '(' iters ')' block                  { $$ = N(FOR, .list = $iters, .b = $block); }
 | FOR '(' iters ')' AS ID block            { $$ = N(FOR, .list = $iters, .str = $ID, .b = $block); }
 | MINIMIZE ID '=' expr OVER exprs USING postfix
    { $$ = N(MINIMIZE, NAMED($ID, @ID), .a = $expr, .list = $exprs, .b = $postfix); }
 | MINIMIZE ID '=' expr[loss] OVER exprs USING postfix WHEN expr[when]
    { $$ = N(MINIMIZE, NAMED($ID, @ID), .a = $loss, .list = $exprs, .b = $postfix, .c = $when); }
 | METRIC ID '=' expr                       { $$ = N(METRIC, NAMED($ID, @ID), .a = $expr); }
 | METRIC ID '=' expr USING ID[how]         { $$ = N(METRIC, NAMED($2, @2), .a = $expr, .str = $how); }
 | OUTPUT binds                             { $$ = N(OUTPUT, .list = $binds); }
 | ASSERT expr                              { $$ = N(ASSERT, .a = $expr); }
 | scan                                     { $$ = N(DO, .a = $scan); }
 | postfix                                  { $$ = N(DO, .a = $postfix); }
 | postfix '=' expr                         { $$ = N(SET, .a = $postfix, .b = $expr); }
 ;
if_stmt: IF '(' expr ')' block              { $$ = N(IF, .a = $expr, .b = $block); }
 | IF '(' expr ')' block[yes] ELSE block[no] { $$ = N(IF, .a = $expr, .b = $yes, .c = $no); }
 | IF '(' expr ')' block ELSE if_stmt[no]   { $$ = N(IF, .a = $expr, .b = $block, .c = $no); }
 ;
let: LET ID opt_type '=' expr               { $$ = N(LET, NAMED($ID, @ID), .type = $opt_type, .a = $expr); }
 | LET pattern opt_type '=' expr            { $$ = N(LET, .list = $pattern, .type = $opt_type, .a = $expr); }
 ;
pattern: '(' names ')'                      { $$ = $names; } ;
state: STATE ID opt_type '=' expr           { $$ = N(STATE, NAMED($ID, @ID), .type = $opt_type, .a = $expr); }
 | STATE ID opt_type '~' postfix            { $$ = N(STATE, NAMED($ID, @ID), .type = $opt_type, .a = $postfix, .is_int = true); }
 ;
fn: FN opt_name '(' params ')' result '=' expr
    {
        struct ast *ret = ast_make(p, &(struct ast){.kind = AST_RETURN, .span = parse_span(p, @expr), .a = $expr});
        struct ast *body = ast_make(p, &(struct ast){.kind = AST_BLOCK, .span = ret->span, .list = LIST(ret)});
        $$ = N(FN, NAMED($opt_name, @opt_name), .list = $params, .type = $result, .b = body);
    }
 | FN opt_name '(' params ')' result block
    { $$ = N(FN, NAMED($opt_name, @opt_name), .list = $params, .type = $result, .b = $block); }
 ;
opt_name: %empty                            { $$ = NULL; }
 | ID
 ;
tags: %empty                                { $$ = (struct ast_list){0}; }
 | TAG names                                { $$ = $names; }
 ;
names: name_node                            { $$ = LIST($1); }
 | names ',' name_node                      { $$ = $1; ast_push(p, &$$, $3); }
 ;
name_node: ID                               { $$ = N(NAME, NAMED($ID, @ID)); } ;
binds: bind                                 { $$ = LIST($1); }
 | binds ',' bind                           { $$ = $1; ast_push(p, &$$, $3); }
 ;
bind: ID '=' expr                           { $$ = N(BIND, NAMED($ID, @ID), .a = $expr); } ;

/* -- The schedule */
run_block: open run_stmts '}'               { $$ = N(BLOCK, .list = $run_stmts); } ;
run_stmts: run_lines
 | run_lines run_stmt                       { $$ = $1; ast_push_declared(p, &$$, $run_stmt); }
 ;
run_lines: %empty                           { $$ = (struct ast_list){0}; }
 | run_lines sep                            { $$ = $1; }
 | run_lines run_stmt sep                   { $$ = $1; ast_push_declared(p, &$$, $run_stmt); }
 | run_lines error sep                      { $$ = $1; yyerrok; }
 ;
run_stmt: ID                                { $$ = N(GO, NAMED($ID, @ID)); }
 | ID[phase] FOR expr ID[unit]              { $$ = N(GO, NAMED($phase, @phase), .a = $expr, .str = $unit); }
 | REPEAT '(' expr ')' run_block            { $$ = N(REPEAT, .a = $expr, .b = $run_block); }
 | EVERY expr ID run_block                  { $$ = N(EVERY, .a = $expr, .str = $ID, .b = $run_block); }
 | SAVE                                     { $$ = N(SAVE, .a = NULL); }
 | SAVE STR                                 { $$ = N(SAVE, .str = $STR); }
 | SAVE best expr                           { $$ = N(SAVE, NAMED($best, @best), .a = $expr); }
 | STOP WHEN expr                           { $$ = N(STOP, .a = $expr); }
 ;

best: ID                                    { $$ = check_best(p, $ID, @ID); } ;

/* -- Expressions */
exprs: expr                                 { $$ = LIST($1); }
 | exprs ',' expr                           { $$ = $1; ast_push(p, &$$, $3); }
 ;
expr: ex
 | expr PIPE postfix                        { $$ = lint_pipe(p, N(PIPE, .a = $1, .b = $postfix)); }
 | expr PIPE ID ':' postfix                 { $$ = lint_pipe(p, N(PIPE, NAMED($ID, @ID), .a = $1, .b = $postfix)); }
 ;
ex: postfix | scan
 | ex OR ex                                 { $$ = BIN("or", $1, $3); }
 | ex AND ex                                { $$ = BIN("and", $1, $3); }
 | NOT ex                                   { $$ = N(UN, .op = intern(p->names, "not"), .a = $2); }
 | ex EQ ex                                 { $$ = BIN("==", $1, $3); }
 | ex NE ex                                 { $$ = BIN("!=", $1, $3); }
 | ex LE ex                                 { $$ = BIN("<=", $1, $3); }
 | ex GE ex                                 { $$ = BIN(">=", $1, $3); }
 | ex '<' ex                                { $$ = BIN("<", $1, $3); }
 | ex '>' ex                                { $$ = BIN(">", $1, $3); }
 | ex '+' ex                                { $$ = BIN("+", $1, $3); }
 | ex '-' ex                                { $$ = BIN("-", $1, $3); }
 | ex '*' ex                                { $$ = BIN("*", $1, $3); }
 | ex '/' ex                                { $$ = BIN("/", $1, $3); }
 | ex '@' ex                                { $$ = BIN("@", $1, $3); }
 | ex '%' ex                                { $$ = BIN("%", $1, $3); }
 | ex IDIV ex                               { $$ = BIN("//", $1, $3); }
 | ex '^' ex                                { $$ = BIN("^", $1, $3); }
 | '-' ex %prec NEG                         { $$ = N(UN, .op = intern(p->names, "-"), .a = $2); }
 | IF ex THEN ex ELSE ex %prec ELSE_BRANCH  { $$ = N(COND, .a = $2, .b = $4, .c = $6); }
 ;
scan: SCAN '(' iters ')' block              { $$ = N(SCAN, .list = $iters, .b = $block); }
 | SCAN '(' iters ';' binds ')' block       { $$ = N(SCAN, .list = $iters, .list2 = $binds, .b = $block); }
 ;
iters: iter                                 { $$ = LIST($1); }
 | iters ',' iter                           { $$ = $1; ast_push(p, &$$, $3); }
 ;
iter: ID IN ex                              { $$ = N(IN, NAMED($ID, @ID), .a = $ex); }
 | ID IN ex[from] DOTS ex[to]               { $$ = N(RANGE, NAMED($ID, @ID), .a = $from, .b = $to); }
 | ID '=' ex                                { $$ = N(OPTION, NAMED($ID, @ID), .a = $ex); }
 ;
postfix: NUM
 | STR                                      { $$ = N(STR, .str = $STR); }
 | TRUE                                     { $$ = N(BOOL, .is_int = true); }
 | FALSE                                    { $$ = N(BOOL, .is_int = false); }
 | ID                                       { $$ = N(ID, NAMED($ID, @ID)); }
 | '(' expr ')'                             { $$ = N(PAREN, .a = $expr); }
 | '(' binds opt_comma ')'                  { $$ = N(RECORD, .list = $binds); }
 | '(' signatures opt_comma ')'             { $$ = N(RECORD_TYPE, .list = $signatures); }
 | '[' ']'                                  { $$ = N(LIST, .a = NULL); }
 | '[' exprs opt_comma ']'                  { $$ = N(LIST, .list = $exprs); }
 | postfix '(' args ')'                     { $$ = N(CALL, .a = $1, .list = $args); }
 | postfix '{' args opt_sep '}'             { $$ = N(MAKE, .a = $1, .list = $args); }
 | postfix '[' idxs ']'                     { $$ = N(INDEX, .a = $1, .list = $idxs); }
 | postfix '.' ID                           { $$ = N(DOT, NAMED($ID, @ID), .a = $1); }
 ;
args: %empty                                { $$ = (struct ast_list){0}; }
 | some_args
 | some_args ','                            { $$ = $1; }
 ;
some_args: arg                              { $$ = LIST($1); }
 | some_args ',' arg                        { $$ = $1; ast_push(p, &$$, $3); }
 ;
arg: expr                                   { $$ = N(ARG, .a = $expr); }
 | ID '=' expr                              { $$ = N(ARG, NAMED($ID, @ID), .a = $expr); }
 | ex[from] DOTS ex[to]                     { $$ = N(ARG, .a = N(RANGE, .a = $from, .b = $to)); }
 ;
idxs: idx                                   { $$ = LIST($1); }
 | idxs ',' idx                             { $$ = $1; ast_push(p, &$$, $3); }
 ;
idx: ex                                     { $$ = N(AT, .a = $ex); }
 | DOTS                                     { $$ = N(REST, .a = NULL); }
 | opt_ex[from] ':' opt_ex[to]
    { if (!$from) { @$.start = @2.start; } $$ = N(SLICE, .a = $from, .b = $to); }
 | opt_ex[from] ':'[colon] opt_ex[to] ':' ex[step]
    { if (!$from) { @$.start = @colon.start; } $$ = N(SLICE, .a = $from, .b = $to, .c = $step); }
 ;
opt_ex: %empty                              { $$ = NULL; }
 | ex
 ;
%%
static int gmlyylex(GMLYYSTYPE *value, struct range *at, struct parse *p)
{
    struct token t;
    int kind = filter_next(p, &t);
    *at = t.at;
    if (kind == NUM) {
        value->node = t.node;
    } else {
        value->name = t.name;
    }
    return kind;
}

static int yyreport_syntax_error(const yypcontext_t *c, struct parse *p)
{
    enum { MOST = YYNTOKENS };
    yysymbol_kind_t kinds[MOST];
    const char *expected[MOST];
    int n = yypcontext_expected_tokens(c, kinds, MOST);
    for (int i = 0; i < n; i++) {
        expected[i] = yysymbol_name(kinds[i]);
    }
    report_syntax(p, expected, n < 0 ? 0 : n);
    filter_recover(p);
    return 0;
}

/* Only bison's own "memory exhausted" comes here: more than YYMAXDEPTH symbols are open. */
static void gmlyyerror(struct range *at, struct parse *p, const char *message)
{
    (void)message;
    if (!p->stopped) {
        p->stopped = true;
        diag_emit(p->sink, DIAG_E0108, parse_span(p, *at), "this expression is nested too deeply");
        diag_help(p->sink, "name parts of it with `let`");
    }
}

static const char *join_names(struct parse *p, const char *a, const char *b)
{
    return intern(p->names, arena_printf(p->arena, "%s.%s", a, b));
}

/* Without `as`, a module is called by the last part of its name, and a file by its name without folder and ending. */
static struct ast *import_node(struct parse *p, struct range at, const char *path, bool quoted, const char *alias,
                               struct range alias_at)
{
    if (!alias) {
        const char *last = strrchr(path, quoted ? '/' : '.');
        last = last ? last + 1 : path;
        size_t n = quoted ? strcspn(last, ".") : strlen(last);
        alias = intern_n(p->names, last, n);
        bool is_name = n > 0 && !strchr("0123456789", *last) && !keyword_find(last, n) &&
                       strspn(last, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") >= n;
        if (!is_name) {
            diag_emit(p->sink, DIAG_E0100, parse_span(p, alias_at), "`%s` gives no name for the module", path);
            diag_help(p->sink, "add one: `import \"%s\" as NAME`", path);
        }
    }
    return ast_make(p, &(struct ast){.kind = AST_IMPORT, .span = parse_span(p, at), .str = path, .is_int = quoted,
                                     .name = alias, .name_span = parse_span(p, alias_at)});
}

/* The only word that may stand there; the tree has it in any case, so that nothing follows from a slip. */
static const char *check_best(struct parse *p, const char *word, struct range at)
{
    if (strcmp(word, "best") != 0) {
        diag_emit(p->sink, DIAG_E0100, parse_span(p, at), "expected `best` after `save`, found name `%s`", word);
        diag_help(p->sink, "write `save`, `save \"name\"` or `save best EXPRESSION`");
    }
    return intern(p->names, "best");
}
