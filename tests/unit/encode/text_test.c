/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "case.h"
#include "encode/text.h"

/* Ends what was written and gives the next test a clean start. */
static const char *
written(char *line, const struct lull_encode_text *text)
{
	*text->at = '\0';
	return line;
}

TEST(word__stands_behind_the_one_before)
{
	char line[32];
	struct lull_encode_text text = { line };

	lull_encode_text_word(&text, "one");
	lull_encode_text_word(&text, "");
	lull_encode_text_word(&text, " two");
	assert_string_equal(written(line, &text), "one two");
}

TEST(number__any_size)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 9, "9" },
		{ 10, "10" },
		{ 1000000, "1000000" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	char line[LULL_ENCODE_NUMBER_MAX + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lull_encode_text text = { line };

		lull_encode_text_number(&text, cases[i].value);
		assert_string_equal(written(line, &text), cases[i].text);
	}
}

TEST(hex__two_digits_per_byte)
{
	static const uint8_t bytes[] = { 0, 0x0f, 0xa0, 0xff };
	char line[16];
	struct lull_encode_text text = { line };

	lull_encode_text_hex(&text, bytes, sizeof(bytes));
	assert_string_equal(written(line, &text), "000fa0ff");
}

TEST(quoted__is_json_whatever_the_word)
{
	static const char word[] = "a\"b\\c\n\x1f\x7f\xc3\xa9~";
	char line[2 * sizeof(word) + 2];
	struct lull_encode_text text = { line };

	lull_encode_text_quoted(&text, word);
	assert_string_equal(written(line, &text), "\"a\\\"b\\\\c?"
						  "????~\"");
}
