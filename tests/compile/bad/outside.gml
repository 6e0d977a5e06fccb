gml 1
import "../nn.gml" as m
