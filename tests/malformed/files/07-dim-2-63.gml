gml 1
phase p { output o = zeros([9223372036854775808]) }
