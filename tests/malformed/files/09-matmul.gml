gml 1
phase p { let a = uniform[8, 16]
 let b = uniform[17, 4]
 output o = a @ b }
