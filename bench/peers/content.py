"""content.py langchain|llamaindex FILE: splits Markdown once; prints seconds, memory and pieces."""

import json
import resource
import sys
import time


def langchain():
    from langchain_text_splitters import MarkdownHeaderTextSplitter

    levels = [("#", "h1"), ("##", "h2"), ("###", "h3")]
    splitter = MarkdownHeaderTextSplitter(levels)
    return lambda text: len(splitter.split_text(text))


def llamaindex():
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    parser = MarkdownNodeParser()
    return lambda text: len(parser.get_nodes_from_documents([Document(text=text)]))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    way, file = sys.argv[1:]
    split = {"langchain": langchain, "llamaindex": llamaindex}[way]()
    before = peak()
    with open(file, encoding="utf-8") as source:
        text = source.read()
    began = time.perf_counter()
    pieces = split(text)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "peak_bytes": peak() - before, "pieces": pieces}))


main()
