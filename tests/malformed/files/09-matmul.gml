gml 1
phase p { let a = ones([8, 16])
 let b = ones([17, 4])
 output o = a @ b }
