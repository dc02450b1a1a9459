/* SPDX-License-Identifier: BSD-3-Clause */
/* Slicing by 8, as crc32c.c does where no instruction helps. */
#include "crc32.h"

#include "bytes.h"
#include "crc_table.h"

static const uint32_t crc32_table[8][256] = {
	LULL_CRC_ROW(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8,
		     0x76dc4190, 0xedb88320),
	LULL_CRC_ROW(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2,
		     0xf0794f05, 0x3b83984b),
	LULL_CRC_ROW(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0,
		     0x709a8dc0, 0xe1351b80),
	LULL_CRC_ROW(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e,
		     0x9b14583d, 0xed59b63b),
	LULL_CRC_ROW(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04,
		     0x58f35849, 0xb1e6b092),
	LULL_CRC_ROW(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536,
		     0x0f580a6c, 0x1eb014d8),
	LULL_CRC_ROW(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c,
		     0x440b7579, 0x8816eaf2),
	LULL_CRC_ROW(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256,
		     0x299dc2ed, 0x533b85da),
};

uint32_t
lull_crc32(uint32_t crc, const uint8_t *bytes, size_t count)
{
	crc = ~crc;
	for (; count >= 8; count -= 8, bytes += 8)
		crc = lull_crc_word(crc32_table, crc, lull_bytes_little64(bytes));
	for (; count > 0; count--)
		crc = crc >> 8 ^ crc32_table[0][(crc ^ *bytes++) & 0xff];
	return ~crc;
}
