/* SPDX-License-Identifier: BSD-3-Clause */
#include "registers_xml.h"

#include <stdio.h>

#include "pixel/pfnc.h"

#define NAMED(kind, name) "<" kind " Name=\"" name "\" NameSpace=\"Standard\">"
#define FEATURE(name) "<pFeature>" name "</pFeature>"
#define AT(address, bytes, mode)                                                                   \
	"<Address>" address "</Address><Length>" bytes "</Length><AccessMode>" mode                \
	"</AccessMode><pPort>Device</pPort>"
#define TEXT(name, address, bytes)                                                                 \
	NAMED("StringReg", name) AT(address, bytes, "RO") "</StringReg>\n"
#define REGISTER(name, address, mode)                                                              \
	"<IntReg Name=\"" name                                                                     \
	"Register\">" AT(address, "4",                                                             \
			 mode) "<Sign>Unsigned</Sign><Endianess>BigEndian</Endianess></IntReg>\n"
#define VALUE(name) "<pValue>" name "Register</pValue>"
#define INTEGER(name, of) NAMED("Integer", name) VALUE(of) "</Integer>\n"
#define COMMAND(name, value)                                                                       \
	NAMED("Command", name)                                                                     \
	VALUE("Acquisition") "<CommandValue>" value "</CommandValue></Command>\n"
#define SCHEMA "http://www.genicam.org/GenApi/Version_1_1"

/* A literal may not be as long as all of them. */
static const char *const before[] = {
	"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	"<RegisterDescription ModelName=\"cam-source\" VendorName=\"lull\" ToolTip=\"\" "
	"StandardNameSpace=\"GEV\" SchemaMajorVersion=\"1\" SchemaMinorVersion=\"1\" "
	"SchemaSubMinorVersion=\"0\" MajorVersion=\"1\" MinorVersion=\"0\" SubMinorVersion=\"0\" "
	"ProductGuid=\"6c756c6c-0000-4000-8000-000000000001\" "
	"VersionGuid=\"6c756c6c-0000-4000-8000-000000000002\" xmlns=\"" SCHEMA "\" "
	"xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
	"xsi:schemaLocation=\"" SCHEMA " http://www.genicam.org/GenApi/"
	"GenApiSchema_Version_1_1.xsd\">\n",
	NAMED("Category", "Root") FEATURE("DeviceVendorName") FEATURE("DeviceModelName") FEATURE(
		"DeviceVersion") FEATURE("DeviceSerialNumber") FEATURE("Width") FEATURE("Height")
		FEATURE("WidthMax") FEATURE("HeightMax") FEATURE("OffsetX") FEATURE("OffsetY")
			FEATURE("PixelFormat") FEATURE("PayloadSize") FEATURE("AcquisitionMode")
				FEATURE("AcquisitionStart") FEATURE("AcquisitionStop")
					FEATURE("AcquisitionFrameRate")
						FEATURE("TLParamsLocked") "</Category>\n",
	TEXT("DeviceVendorName", "0x48", "32") TEXT("DeviceModelName", "0x68", "32"),
	TEXT("DeviceVersion", "0x88", "32") TEXT("DeviceSerialNumber", "0xd8", "16"),
	INTEGER("Width", "Width") INTEGER("WidthMax", "Width") REGISTER("Width", "0x100", "RO"),
	INTEGER("Height", "Height") INTEGER("HeightMax", "Height")
		REGISTER("Height", "0x104", "RO"),
	INTEGER("OffsetX", "OffsetX") REGISTER("OffsetX", "0x110", "RO"),
	INTEGER("OffsetY", "OffsetY") REGISTER("OffsetY", "0x114", "RO"),
	INTEGER("PayloadSize", "Payload") REGISTER("Payload", "0x10c", "RO"),
	INTEGER("TLParamsLocked", "Locked") REGISTER("Locked", "0x11c", "RW"),
};
static const char *const after[] = {
	REGISTER("Pixel", "0x108", "RO"),
	NAMED("Enumeration", "AcquisitionMode")
		NAMED("EnumEntry", "Continuous") "<Value>0</Value></EnumEntry>" VALUE(
			"Mode") "</Enumeration>\n" REGISTER("Mode", "0x118", "RW"),
	COMMAND("AcquisitionStart", "1") COMMAND("AcquisitionStop", "0")
		REGISTER("Acquisition", "0x124", "RW"),
	NAMED("FloatReg", "AcquisitionFrameRate")
		AT("0x120", "4", "RO") "<Endianess>BigEndian</Endianess></FloatReg>\n",
	NAMED("Port", "Device") "</Port>\n</RegisterDescription>\n",
};

static const char *
xml_pixel(enum lull_pixel pixel)
{
	const char *name = lull_pfnc_name(pixel);

	return name != NULL ? name : lull_pixel_name(pixel);
}

static size_t
xml_put(char *text, size_t size, size_t used, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s", parts[i]);
	return used;
}

uint32_t
registers_xml_write(char *text, size_t size, enum lull_pixel pixel)
{
	const char *name = xml_pixel(pixel);
	size_t used = xml_put(text, size, 0, before, sizeof(before) / sizeof(before[0]));

	if (used < size)
		used += (size_t)snprintf(
			text + used, size - used,
			NAMED("Enumeration",
			      "PixelFormat") "<EnumEntry Name=\"%s\" NameSpace=\"Standard\">"
					     "<Value>%u</Value></EnumEntry>" VALUE(
						     "Pixel") "</Enumeration>\n",
			name, lull_pfnc_code(pixel));
	used = xml_put(text, size, used, after, sizeof(after) / sizeof(after[0]));
	return (uint32_t)(used < size ? used : size - 1);
}
