/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "program/cpus.h"
#include "program/traffic_spec.h"

static struct lull_arrival_config config;
static struct lull_error error;

TEST(traffic_spec_parse__every_kind)
{
	config = (struct lull_arrival_config){ .seed = 7, .size_count = 1 };
	assert_int_equal(lull_traffic_spec_parse("onoff:1M,5ms,20ms", &config, &error), 0);
	assert_int_equal(config.kind, LULL_ARRIVAL_ONOFF);
	assert_true(config.pps == 1e6);
	assert_int_equal(config.on_ns, 5000000);
	assert_int_equal(config.off_ns, 20000000);
	assert_int_equal(lull_traffic_spec_parse("tidal:0-1.5M,60s", &config, &error), 0);
	assert_int_equal(config.kind, LULL_ARRIVAL_TIDAL);
	assert_true(config.pps == 0 && config.pps_high == 1.5e6);
	assert_int_equal(config.period_ns, 60000000000);
	assert_int_equal(config.on_ns, 0);
	assert_int_equal(lull_traffic_spec_parse("constant:0.5", &config, &error), 0);
	assert_true(config.pps == 0.5 && config.pps_high == 0);
	assert_int_equal(lull_traffic_spec_parse("selfsimilar:1M,0.7", &config, &error), 0);
	assert_int_equal(config.kind, LULL_ARRIVAL_SELFSIMILAR);
	assert_true(config.pps == 1e6 && config.hurst == 0.7);
	assert_int_equal(config.source_count, 16);
	assert_int_equal(lull_traffic_spec_parse("incast:32x8,10ms,50us", &config, &error), 0);
	assert_int_equal(config.kind, LULL_ARRIVAL_INCAST);
	assert_int_equal(config.sender_count, 32);
	assert_int_equal(config.sender_pkts, 8);
	assert_int_equal(config.period_ns, 10000000);
	assert_int_equal(config.jitter_ns, 50000);
	assert_int_equal(lull_traffic_spec_parse("selfsimilar:1M", &config, &error), 0);
	assert_true(config.hurst == 0.8 && config.jitter_ns == 0 && config.sender_count == 0);
	assert_int_equal(lull_traffic_spec_parse("off", &config, &error), 0);
	assert_int_equal(config.kind, LULL_ARRIVAL_OFF);
	assert_int_equal(config.seed, 7);
	assert_int_equal(config.size_count, 1);
}

/* Parses, prints canonically, and core takes it. */
TEST(traffic_spec_print__canonical)
{
	static const char *const specs[][2] = {
		{ "off", "off" },
		{ "constant:300000", "constant:300k" },
		{ "constant:200M", "constant:200M" },
		{ "constant:0.001", "constant:0.001" },
		{ "constant:123456789.012345", "constant:123.456789012345M" },
		{ "poisson:0.0145G", "poisson:14.5M" },
		{ "onoff:1000k,5000us,0.02s", "onoff:1M,5ms,20ms" },
		{ "onoff:1,1us,1h", "onoff:1,1us,1h" },
		{ "tidal:0-1M,60s", "tidal:0-1M,1m" },
		{ "tidal:1M-0,24h", "tidal:1M-0,24h" },
		{ "ramp:1k-1M,10s", "ramp:1k-1M,10s" },
		{ "step:1k-1M,1ms", "step:1k-1M,1ms" },
		{ "selfsimilar:1000k", "selfsimilar:1M" },
		{ "selfsimilar:1M,0.80,16", "selfsimilar:1M" },
		{ "selfsimilar:1M,0.8,4", "selfsimilar:1M,0.8,4" },
		{ "selfsimilar:0.001,0.999,64", "selfsimilar:0.001,0.999,64" },
		{ "selfsimilar:1M,0.650,16", "selfsimilar:1M,0.65" },
		{ "incast:32x8,10000us", "incast:32x8,10ms" },
		{ "incast:32x8,10ms,0", "incast:32x8,10ms" },
		{ "incast:4kx1,24h,24h", "incast:4000x1,24h,24h" },
		{ "incast:1x200,1us,1us", "incast:1x200,1us,1us" },
	};
	struct lull_range core_error;
	char text[128];

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		config = (struct lull_arrival_config){ .seed = 1 };
		assert_int_equal(lull_traffic_spec_parse(specs[i][0], &config, &error), 0);
		assert_string_equal(lull_traffic_spec_print(&config, text, sizeof(text)),
				    specs[i][1]);
		assert_int_equal(lull_traffic_spec_parse(text, &config, &error), 0);
		assert_int_equal(lull_traffic_size_parse("64", &config, &error), 0);
		assert_int_equal(lull_arrival_config_check(&config, &core_error), 0);
	}
	config.kind = (enum lull_arrival_kind)99;
	assert_string_equal(lull_traffic_spec_print(&config, text, sizeof(text)), "off");
}

/* Each spec gives its sentence, and leaves what was there. */
static void
check_refuses(const char *const (*bad)[2], size_t count)
{
	struct lull_arrival_config before;

	memset(&config, 0, sizeof(config));
	assert_int_equal(lull_traffic_spec_parse("poisson:5k", &config, &error), 0);
	before = config;
	for (size_t i = 0; i < count; i++) {
		assert_int_not_equal(lull_traffic_spec_parse(bad[i][0], &config, &error), 0);
		assert_string_equal(error.text, bad[i][1]);
	}
	assert_memory_equal(&before, &config, sizeof(config));
}

TEST(traffic_spec_parse__refuses)
{
	static const char *const bad[][2] = {
		{ "burst:1", "'burst:1' is not a traffic spec: give " LULL_TRAFFIC_SPEC_GRAMMAR },
		{ "", "'' is not a traffic spec: give " LULL_TRAFFIC_SPEC_GRAMMAR },
		{ "off:1", "'off:1' is not off" },
		{ "constant", "'constant' is not constant:RATE, like constant:300k" },
		{ "constant:", "'constant:' is not constant:RATE, like constant:300k" },
		{ "constant:1,2", "'constant:1,2' is not constant:RATE, like constant:300k" },
		{ "constant:0", "'constant:0': RATE 0 is not in 0.001..200M (packets/s)" },
		{ "constant:201M", "'constant:201M': RATE 201M is not in 0.001..200M (packets/s)" },
		{ "constant:fast", "'constant:fast': RATE 'fast' is not a rate: give packets/s "
				   "such as 500, 300k or 14.88M" },
		{ "onoff:1M,5,20ms", "'onoff:1M,5,20ms': ON '5' is not a time: give a number with "
				     "ns, us, ms, s, m or h" },
		{ "onoff:1M,5ms,2h", "'onoff:1M,5ms,2h': OFF 2h is not in 1us..1h" },
		{ "onoff:1M,5ms,0", "'onoff:1M,5ms,0': OFF 0 is not in 1us..1h" },
		{ "onoff:1M,5ms,",
		  "'onoff:1M,5ms,' is not onoff:RATE,ON,OFF, like onoff:1M,5ms,20ms" },
		{ "onoff:1M,5ms,20ms,", "'onoff:1M,5ms,20ms,' is not onoff:RATE,ON,OFF, like "
					"onoff:1M,5ms,20ms" },
		{ "tidal:1M,60s", "'tidal:1M,60s': '1M' is not LOW-HIGH" },
		{ "tidal:0-0,60s",
		  "'tidal:0-0,60s': LOW and HIGH are both 0: for no traffic give off" },
		{ "ramp:1-2G,10s",
		  "'ramp:1-2G,10s': HIGH 2G is not in 0 or 0.001..200M (packets/s)" },
		{ "step:1-2,99999999999h",
		  "'step:1-2,99999999999h': TIME 99999999999h is not in 1ms..24h" },
		{ "step:1--2,1s",
		  "'step:1--2,1s': HIGH '-2' is not a rate: give packets/s such as 500, 300k or "
		  "14.88M" },
	};

	check_refuses(bad, sizeof(bad) / sizeof(bad[0]));
}

TEST(traffic_spec_parse__refuses_sources_and_senders)
{
	static const char *const bad[][2] = {
		{ "selfsimilar", "'selfsimilar' is not selfsimilar:RATE[,HURST[,SOURCES]], like "
				 "selfsimilar:1M or selfsimilar:1M,0.8,16" },
		{ "selfsimilar:1M,0.8,16,1",
		  "'selfsimilar:1M,0.8,16,1' is not selfsimilar:RATE[,HURST[,SOURCES]], like "
		  "selfsimilar:1M or selfsimilar:1M,0.8,16" },
		{ "selfsimilar:1M,,16",
		  "'selfsimilar:1M,,16' is not selfsimilar:RATE[,HURST[,SOURCES]], like "
		  "selfsimilar:1M or selfsimilar:1M,0.8,16" },
		{ "selfsimilar:0", "'selfsimilar:0': RATE 0 is not in 0.001..200M (packets/s)" },
		{ "selfsimilar:1M,0.5", "'selfsimilar:1M,0.5': HURST 0.5 is not in 0.501..0.999" },
		{ "selfsimilar:1M,1", "'selfsimilar:1M,1': HURST 1 is not in 0.501..0.999" },
		{ "selfsimilar:1M,high",
		  "'selfsimilar:1M,high': HURST 'high' is not a number like 0.8" },
		{ "selfsimilar:1M,0.8,65", "'selfsimilar:1M,0.8,65': SOURCES 65 is not in 1..64" },
		{ "selfsimilar:1M,0.8,1.5",
		  "'selfsimilar:1M,0.8,1.5': SOURCES '1.5' is not a whole number" },
		{ "incast:32,10ms", "'incast:32,10ms': '32' is not SENDERSxPKTS, like 32x8" },
		{ "incast:32x8", "'incast:32x8' is not incast:SENDERSxPKTS,PERIOD[,JITTER], like "
				 "incast:32x8,10ms or incast:32x8,10ms,50us" },
		{ "incast:0x8,10ms", "'incast:0x8,10ms': SENDERS 0 is not in 1..4096" },
		{ "incast:32x,10ms", "'incast:32x,10ms': PKTS '' is not a whole number" },
		{ "incast:32x65536,10s", "'incast:32x65536,10s': PKTS 65536 is not in 1..65535" },
		{ "incast:32x8,10", "'incast:32x8,10': PERIOD '10' is not a time: give a number "
				    "with ns, us, ms, s, m or h" },
		{ "incast:32x8,1us",
		  "'incast:32x8,1us': 256 packets in 1us are more than 200M packets/s" },
		{ "incast:32x8,1ms,2ms",
		  "'incast:32x8,1ms,2ms': JITTER 2ms is longer than PERIOD 1ms" },
		{ "incast:32x8,1ms,25h", "'incast:32x8,1ms,25h': JITTER 25h is not in 0..24h" },
	};

	check_refuses(bad, sizeof(bad) / sizeof(bad[0]));
}

TEST(traffic_size_parse__with_crc)
{
	char text[128];

	memset(&config, 0, sizeof(config));
	assert_int_equal(lull_traffic_size_parse("64:7,594:4,1518:1", &config, &error), 0);
	assert_int_equal(config.size_count, 3);
	assert_int_equal(config.size_bytes[0], 60);
	assert_int_equal(config.size_bytes[2], 1514);
	assert_int_equal(config.size_weight[0], 7);
	assert_string_equal(lull_traffic_size_print(&config, text, sizeof(text)),
			    "64:7,594:4,1518:1");
	assert_int_equal(lull_traffic_size_parse("9604", &config, &error), 0);
	assert_int_equal(config.size_count, 1);
	assert_int_equal(config.size_bytes[0], 9600);
	assert_string_equal(lull_traffic_size_print(&config, text, sizeof(text)), "9604");
	assert_int_equal(lull_traffic_size_parse("64,1518", &config, &error), 0);
	assert_string_equal(lull_traffic_size_print(&config, text, sizeof(text)), "64:1,1518:1");
}

TEST(traffic_size_parse__refuses)
{
	static const char *const bad[][2] = {
		{ "63", "size 63 is not in 64..9604 (bytes with CRC)" },
		{ "64,9605", "'64,9605': size 9605 is not in 64..9604 (bytes with CRC)" },
		{ "64:0,65", "'64:0,65': weight 0 is not in 1..65535" },
		{ "64:65536", "weight 65536 is not in 1..65535" },
		{ "", "'' is not SIZE[:WEIGHT]: give sizes like 64 or 64:7,594:4,1518:1" },
		{ "64,",
		  "'64,': '' is not SIZE[:WEIGHT]: give sizes like 64 or 64:7,594:4,1518:1" },
		{ "imix", "'imix' is not SIZE[:WEIGHT]: give sizes like 64 or 64:7,594:4,1518:1" },
		{ "64:1:2",
		  "'64:1:2' is not SIZE[:WEIGHT]: give sizes like 64 or 64:7,594:4,1518:1" },
		{ "64,65,66,67,68,69,70,71,72", "'64,65,66,67,68,69,70,71,72': more than 8 sizes" },
	};
	struct lull_arrival_config before;

	memset(&config, 0, sizeof(config));
	before = config;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(lull_traffic_size_parse(bad[i][0], &config, &error), 0);
		assert_string_equal(error.text, bad[i][1]);
	}
	assert_memory_equal(&before, &config, sizeof(config));
}

TEST(cpus_parse__lists)
{
	static const char *const good[][2] = {
		{ "0", "0" },   { "1,3-5", "1,3-5" }, { "3,4,5,1", "3-5,1" },
		{ "7-7", "7" }, { "1023", "1023" },   { "0-63", "0-63" },
	};
	static const char *const bad[][2] = {
		{ "", "'' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "1,", "'1,' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "a", "'a' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "1-", "'1-' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "5-3", "'5-3' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "1 2", "'1 2' is not a list of CPUs: give CPU numbers and ranges like 1,3-5" },
		{ "1024", "'1024' goes beyond CPU 1023" },
		{ "99999999999999999999", "'99999999999999999999' goes beyond CPU 1023" },
		{ "1,0-3", "'1,0-3' names a CPU twice" },
		{ "0-64", "'0-64' names more than 64 CPUs" },
	};
	struct lull_cpu_list list, before;
	char text[512];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lull_cpus_parse(good[i][0], &list, &error), 0);
		assert_string_equal(lull_cpus_print(&list, text, sizeof(text)), good[i][1]);
	}
	before = list;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(lull_cpus_parse(bad[i][0], &list, &error), 0);
		assert_string_equal(error.text, bad[i][1]);
	}
	assert_memory_equal(&before, &list, sizeof(list));
}

/* Words thrown at the parsers: what they take, they print and take again. */
TEST(traffic_spec_parse__any_words)
{
	static const char *const words[] = {
		"off", "constant", "onoff", "tidal", "step",        ":",      ":",  ",",   ",", "-",
		"1",   "0",        "5",     "k",     "M",           "G",      "ms", "s",   "h", ".",
		"9",   "64",       "",      " ",     "selfsimilar", "incast", "x",  "0.7",
	};
	const size_t word_count = sizeof(words) / sizeof(words[0]);
	uint64_t random = 1;
	char text[128], first[256], second[256];

	for (int round = 0; round < 100000; round++) {
		text[0] = '\0';
		for (int i = 0; i < 4 + round % 6; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			strcat(text, words[(random >> 33) % word_count]);
		}
		memset(&config, 0, sizeof(config));
		if (lull_traffic_spec_parse(text, &config, &error) == 0) {
			lull_traffic_spec_print(&config, first, sizeof(first));
			assert_int_equal(lull_traffic_spec_parse(first, &config, &error), 0);
			lull_traffic_spec_print(&config, second, sizeof(second));
			assert_string_equal(first, second);
		}
		if (lull_traffic_size_parse(text, &config, &error) == 0) {
			lull_traffic_size_print(&config, first, sizeof(first));
			assert_int_equal(lull_traffic_size_parse(first, &config, &error), 0);
		}
	}
}
