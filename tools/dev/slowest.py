"""Prints the ten slowest tests of JUnit reports: slowest.py REPORT..."""
import sys
import xml.etree.ElementTree as xml


def durations(path):
    for case in xml.parse(path).iter("testcase"):
        yield float(case.get("time", 0)), case.get("classname", ""), case.get("name", "")


found = sorted((test for path in sys.argv[1:] for test in durations(path)), reverse=True)
for seconds, program, name in found[:10]:
    print(f"  {seconds:7.1f} s  {program} {name}")
print(f"  {sum(test[0] for test in found):7.1f} s  all {len(found)} tests, one after another")
