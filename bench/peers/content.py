"""content.py langchain|llamaindex FILE: splits Markdown once; prints seconds, memory and pieces."""

import json
import resource
import sys
import time


def langchain(text):
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    levels = [("#", "h1"), ("##", "h2"), ("###", "h3")]
    splitter = MarkdownHeaderTextSplitter(levels)
    return lambda: len(splitter.split_text(text))


def llamaindex(text):
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    parser, document = MarkdownNodeParser(), Document(text=text)
    return lambda: len(parser.get_nodes_from_documents([document]))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    way, file = sys.argv[1:]
    with open(file, encoding="utf-8") as source:
        text = source.read()
    split = {"langchain": langchain, "llamaindex": llamaindex}[way](text)
    before, began = peak(), time.perf_counter()
    pieces = split()
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "peak_bytes": peak() - before, "pieces": pieces}))


main()
