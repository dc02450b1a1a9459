# SPDX-License-Identifier: BSD-3-Clause
"""MPI: programs of Open MPI over the channel; what `lull mpi` does for them."""
