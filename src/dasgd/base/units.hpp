// Numbers and times as people write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dasgd {

/// "50ms", "5us", "1.5s", "200ns", "2min", "1h". Throws InputError.
std::chrono::nanoseconds parse_duration(const std::string& text);
/// The shortest exact form of a time: "50ms".
std::string show_duration(std::chrono::nanoseconds time);

/// Bytes per second: "1Gbit", "100Mbit/s", "12.5MB", "125000000". Throws InputError.
double parse_rate(const std::string& text);
/// "1 Gbit/s".
std::string show_rate(double bytes_per_second);

/// A finite number. Throws InputError.
double parse_real(const std::string& text);
/// The shortest text that reads back as the same number.
std::string show_real(double value);
/// A whole number from 0 to `limit`. Throws InputError.
std::uint64_t parse_whole(const std::string& text, std::uint64_t limit);

/// A whole number from 1 on that may be large: "93322", "93k", "11M", "1.5G". Throws InputError.
double parse_many(const std::string& text);

/// "a,b,c" as its parts.
std::vector<std::string> split(const std::string& text, char separator);

/// 1234567 as "1,234,567".
std::string show_count(std::uint64_t count);
/// "1 sample", "1,234 samples".
std::string counted(std::uint64_t count, const std::string& what);

}  // namespace dasgd
