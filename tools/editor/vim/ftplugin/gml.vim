" gq formats with gmlc; comments begin with #.
setlocal commentstring=#\ %s comments=:##,:# shiftwidth=4 expandtab
setlocal formatprg=gmlc\ fmt\ -
