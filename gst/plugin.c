/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"
#include "statistics.h"

static gboolean
plugin_init(GstPlugin *plugin)
{
	static const gchar *tags[] = { NULL };

	gst_meta_register_custom(LULL_GST_FRAME_META, tags, NULL, NULL, NULL);
	return gst_element_register(plugin, "lullcamerasrc", GST_RANK_NONE,
				    lull_gst_source_get_type());
}

#define PACKAGE "lull"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, lull,
		  "Cameras over Ethernet: kernel sockets, DPDK and captures by one element",
		  plugin_init, LULL_VERSION, "BSD", "lull", "lull")
