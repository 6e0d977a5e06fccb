" Other formats are called .gml too: the first line decides.
autocmd BufRead,BufNewFile *.gml if getline(1) =~# '^gml \d' || getline(1) ==# '' | set filetype=gml | endif
