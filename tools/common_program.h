/* What gmlc and gmlrun share besides options: the command line as text, folders, the end of memory.
 */
#ifndef GML_TOOLS_COMMON_PROGRAM_H
#define GML_TOOLS_COMMON_PROGRAM_H
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

/* "gmlrun train model.gml", quoted where the shell would need it. */
const char *command_line(struct arena *a, int argc, char **argv);
/* When memory runs out: a message and exit 4. Call first in main. */
void install_exhausted(void);
/* "models/mlp.gml" -> "models", "mlp.gml" -> "". */
const char *folder_of(struct arena *a, const char *path);

#endif
