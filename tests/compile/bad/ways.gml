gml 1
## Text that reads in two ways.
phase p {
    let a = ones([2, 2])
    output one = a * a @ a, two = a @ a * 2 @ a, three = a / 2 @ a, four = (a * a) @ a, five = a + a @ a, six = a @ a / 2
    output seven = if true then a else a |> relu |> tanh, eight = (if true then a else a) |> relu, nine = if true then a else (a |> relu)
}
run { p }
