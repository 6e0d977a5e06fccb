/* What gmlc and gmlrun share besides options: version, standard library folder, the end of memory, rendering.
 */
#ifndef GML_TOOLS_COMMON_PROGRAM_H
#define GML_TOOLS_COMMON_PROGRAM_H
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

#define GML_VERSION "0.1.0"

/* $GML_STD, ../share/gml/std beside the executable, else the folder of the source tree it was built from. */
const char *std_folder(struct arena *a);
/* "gmlrun train model.gml", quoted where the shell would need it. */
const char *command_line(struct arena *a, int argc, char **argv);
/* When memory runs out: a message and exit 4. Call first in main. */
void install_exhausted(void);
/* "models/mlp.gml" -> "models", "mlp.gml" -> "". */
const char *folder_of(struct arena *a, const char *path);

#endif
