# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""`tidemark mcp`: the protocol line by line, what may be read, and the official client if it is installed."""

import asyncio
import importlib.util
import json
import pathlib
import pickle
import random
import shutil
import subprocess
import sys
import unittest

from support import ENVIRONMENT, FINE, TIDEMARK, USAGE, CommandTest, generated_snapshot, make_graph_trace
from test_steering import Steered

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "recorded"
CLIENT = importlib.util.find_spec("mcp") is not None


class Server:
    def __init__(self, test, *arguments):
        self.process = subprocess.Popen(
            [TIDEMARK, "--language", "en", "mcp", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        test.addCleanup(self.close)
        self.test, self.count = test, 0

    def close(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
            self.process.stdout.close()
            self.test.assertEqual(self.process.wait(60), FINE)

    def send(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def line(self, line):
        self.send(line)
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **parameters):
        self.count += 1
        answer = self.line(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": parameters}))
        self.test.assertEqual((answer["jsonrpc"], answer["id"]), ("2.0", self.count))
        return answer

    def text(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        self.test.assertFalse(result["isError"], result)
        return result["content"][0]["text"]

    def json(self, tool, **arguments):
        return json.loads(self.text(tool, **arguments))

    def refusal(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        self.test.assertTrue(result["isError"], result)
        return result["content"][0]["text"]


class McpTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.root.mkdir()
        for name in ("resnet", "gan"):
            shutil.copy(RECORDED / f"{name}.tide", self.root)

    def server(self, *arguments):
        return Server(self, *(arguments or ("--root", self.root)))


class Protocol(McpTest):
    def test_versions(self):
        server = self.server()
        for asked, agreed in (("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")):
            result = server.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})["result"]
            self.assertEqual(result["protocolVersion"], agreed)
            self.assertIn("tools", result["capabilities"])
            self.assertEqual(result["serverInfo"]["name"], "tidemark")
        server.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        self.assertEqual(server.ask("ping")["result"], {})

    def test_tools_have_schemas(self):
        tools = self.server().ask("tools/list")["result"]["tools"]
        self.assertGreater(len(tools), 9)
        for tool in tools:
            schema = tool["inputSchema"]
            self.assertEqual((schema["type"], schema["additionalProperties"]), ("object", False))
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
            self.assertTrue(tool["annotations"]["readOnlyHint"])
            self.assertGreater(len(tool["description"]), 40)
            for each in schema["properties"].values():
                self.assertIn(each["type"], ("string", "integer"))
                self.assertTrue(each["description"])

    def test_wrong_messages_have_answers(self):
        server = self.server()
        for line, code in (
            ("garbage", -32700),
            ("[" * 500_000, -32700),
            (b"\xff\xfe", -32700),
            ("[]", -32600),
            ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
            ("5", -32600),
            ("{}", -32600),
            ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
            ('{"jsonrpc": "2.0", "id": 1}', -32600),
            ('{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
            ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
            ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
            ("x" * 3_000_000, -32600),
            ('{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
            ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32602),
            ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', -32602),
            ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ["top"]}}', -32602),
            ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "top", "arguments": 5}}', -32602),
        ):
            answer = server.line(line)
            self.assertEqual(answer["error"]["code"], code, (line[:80], answer))
        # These need no answer: the next line is that of ping.
        for line in ('{"jsonrpc": "2.0", "method": "nothing"}', '{"jsonrpc": "2.0", "id": 9, "result": {}}', ""):
            server.send(line)
        self.assertEqual(server.ask("ping")["result"], {})

    def test_damaged_messages_do_not_end_it(self):
        server, dice = self.server(), random.Random(3)
        call = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "top", "arguments": {"trace": "gan.tide"}},
            }
        ).encode()
        for _ in range(150):
            line = bytearray(call)
            for _ in range(dice.randrange(1, 4)):
                line[dice.randrange(len(line))] = dice.choice(b'{}[]",:0 \\x\xff')
            server.send(bytes(line))
        server.send('{"jsonrpc": "2.0", "id": "last", "method": "ping"}')
        while json.loads(server.process.stdout.readline())["id"] != "last":
            pass

    def test_a_line_without_an_end_is_answered(self):
        result = subprocess.run(
            [TIDEMARK, "mcp", "--root", self.root],
            input=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
            capture_output=True,
        )
        self.assertEqual((result.returncode, json.loads(result.stdout)["result"]), (FINE, {}))


class Tools(McpTest):
    def test_results_are_those_of_the_commands(self):
        server, trace = self.server(), self.root / "resnet.tide"
        for tool, command in (
            (("top", {"by": "line", "limit": 3, "at": "end"}), ("top", "--by", "line", "--limit", 3, "--at", "end")),
            (("breakdown", {}), ("breakdown",)),
            (("graph", {}), ("graph",)),
            (("referrers", {}), ("referrers",)),
            (("source", {"file": "training_kinds.py"}), ("source", "training_kinds.py", "--recorded")),
        ):
            expected = self.json_of(command[0], trace, *command[1:])
            self.assertEqual(server.json(tool[0], trace="resnet.tide", **tool[1]), expected)
        self.assertEqual(server.json("info", trace=str(trace))["path"], str(trace.resolve()))
        rows = server.json("query", trace="resnet.tide", sql="-- the first\nSELECT 1 AS one")
        self.assertEqual((rows["columns"], rows["rows"]), (["one"], [[1]]))
        compared = server.json("diff", a="resnet.tide", b="gan.tide", by="line", limit=1)
        self.assertEqual(compared["b"]["trace"], str((self.root / "gan.tide").resolve()))
        self.assertIn("allocations", server.text("query_tables"))

    def test_findings_and_their_evidence(self):
        make_graph_trace(self.root / "graph.tide")
        server, explained = self.server(), self.json_of("explain", self.root / "graph.tide")
        overview = server.json("explain", trace="graph.tide")
        self.assertEqual(
            [each["title"] for each in overview["findings"]], [each["title"] for each in explained["findings"]]
        )
        for position, (short, whole) in enumerate(zip(overview["findings"], explained["findings"], strict=True)):
            self.assertEqual(short["id"], f"{explained['device']}:{position}")
            self.assertNotIn("path", short)
            self.assertEqual(len(short["evidence"]), len(whole["evidence"]))
            self.assertEqual(server.json("finding", trace="graph.tide", id=short["id"])["finding"], whole)
        self.assertTrue(any(each["path"] for each in explained["findings"]))
        nodes = [e["node"] for each in overview["findings"] for e in each["evidence"] if "node" in e]
        self.assertTrue(nodes)
        self.assertIn("node", server.text("graph", trace="graph.tide", node=nodes[0]))
        self.assertIn("no finding 0:99", server.refusal("finding", trace="graph.tide", id="0:99"))

    def test_the_list_of_traces(self):
        listed = self.server().json("list_traces")
        self.assertEqual([pathlib.Path(each["trace"]).name for each in listed["traces"]], ["gan.tide", "resnet.tide"])
        self.assertEqual(listed["traces"][0]["bytes"], (self.root / "gan.tide").stat().st_size)

    def test_long_results_are_cut_and_say_so(self):
        server = self.server("--root", self.root, "--max-bytes", 2000)
        for tool, arguments in (
            ("query", {"sql": "SELECT * FROM allocations"}),
            ("top", {"by": "stack", "limit": 1000}),
            ("explain", {}),
            ("query", {"sql": "SELECT printf('%.*c', 100000, 'x') AS long"}),
        ):
            text = server.text(tool, trace="resnet.tide", **arguments)
            self.assertLessEqual(len(text.encode()), 2000)
            self.assertTrue(json.loads(text)["left_out"], tool)
        self.assertNotIn("left_out", server.json("query", trace="resnet.tide", sql="SELECT 1"))

    def test_slow_calls_are_ended(self):
        server = self.server("--root", self.root, "--timeout", 1)
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        self.assertIn("longer than 1 s", server.refusal("query", trace="gan.tide", sql=endless))

    def test_wrong_arguments(self):
        server = self.server()
        for arguments, message in (
            ({}, "needs the argument trace"),
            ({"trace": 5}, "trace is no string"),
            ({"trace": "gan.tide", "limit": "5"}, "limit is no integer"),
            ({"trace": "gan.tide", "limit": 0}, "between 1 and 1000"),
            ({"trace": "gan.tide", "limit": 10**30}, "limit is no integer"),
            ({"trace": "gan.tide", "output": "x"}, "has no argument output"),
            ({"trace": "gan.tide", "at": "never"}, "never"),
            ({"trace": "gan.tide", "by": "--help"}, "not a way to group"),
            ({"trace": "gan.tide", "at": "\0"}, "code 0"),
        ):
            self.assertIn(message, server.refusal("top", **arguments))
        for sql in ("DELETE FROM allocation", "ATTACH '/tmp/x' AS x", "PRAGMA journal_mode = DELETE", "nonsense", ""):
            server.refusal("query", trace="gan.tide", sql=sql)


class Access(McpTest):
    def test_files_outside_are_refused(self):
        outside = self.folder / "outside.tide"
        shutil.copy(RECORDED / "gan.tide", outside)
        (self.root / "link.tide").symlink_to(outside)
        (self.root / "folder").symlink_to(self.folder)
        server = self.server()
        for name in (
            outside,
            "../outside.tide",
            "link.tide",
            "folder/outside.tide",
            "/etc/passwd",
            "missing.tide",
            "",
            "1",
        ):
            message = server.refusal("top", trace=str(name))
            self.assertIn("none of the files that this server reads", message)
        self.assertIn("none of the files", server.refusal("diff", a="gan.tide", b=str(outside)))

    def test_named_files_only(self):
        server = self.server(self.root / "gan.tide")
        server.json("top", trace=str(self.root / "gan.tide"))
        server.refusal("top", trace=str(self.root / "resnet.tide"))
        self.assertEqual(len(server.json("list_traces")["traces"]), 1)

    def test_a_folder_with_a_similar_name_is_outside(self):
        similar = self.folder / "root2"
        similar.mkdir()
        shutil.copy(RECORDED / "gan.tide", similar)
        self.server().refusal("top", trace=str(similar / "gan.tide"))

    def test_source_files_of_this_machine_are_not_read(self):
        secret = self.folder / "secret.py"
        secret.write_text("password = 'hunter2'\n" * 20)
        stranger = json.dumps(pickle.loads(generated_snapshot())).replace("/home/anna/train.py", str(secret))
        path = self.folder / "made-up.pickle"
        path.write_bytes(pickle.dumps(json.loads(stranger), protocol=4))
        self.run_fine("import", path, "-o", self.root / "stranger.tide")
        self.assertIn("hunter2", self.run_fine("source", self.root / "stranger.tide", "secret.py", "--format", "json"))
        self.assertNotIn("hunter2", self.server().text("source", trace="stranger.tide", file="secret.py"))

    def test_nothing_is_written(self):
        before = {path: path.read_bytes() for path in self.root.iterdir()}
        server = self.server()
        for tool in ("explain", "top", "breakdown", "graph", "referrers", "info", "source"):
            server.text(tool, trace="gan.tide")
        server.close()
        self.assertEqual({path: path.read_bytes() for path in self.root.iterdir()}, before)

    def test_wrong_usage(self):
        self.run_failing(USAGE, "mcp")
        self.run_failing(ENVIRONMENT, "mcp", "--root", self.folder / "missing")


class Running(Steered):
    def test_a_trace_that_is_being_recorded(self):
        pid = self.start()
        self.await_events(pid)
        server = Server(self, "--root", self.folder)
        (listed,) = server.json("list_traces")["traces"]
        self.assertTrue(listed["is_being_recorded"])
        self.assertEqual(server.json("explain", trace="run.tide")["device"], 0)
        self.assertGreater(server.json("top", trace="run.tide", at="end")["total"]["bytes"], 0)
        server.refusal("top", trace=str(pid))


@unittest.skipUnless(CLIENT, "this Python has no package mcp")
class Client(McpTest):
    def test_the_official_client(self):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async def talk():
            parameters = StdioServerParameters(command=TIDEMARK, args=["mcp", "--root", str(self.root)])
            async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
                await session.initialize()
                tools = (await session.list_tools()).tools
                found = await session.call_tool("explain", {"trace": "resnet.tide"})
                refused = await session.call_tool("top", {"trace": "missing.tide"})
                return [tool.name for tool in tools], found.content[0].text, refused.content[0].text

        names, explained, refused = asyncio.run(asyncio.wait_for(talk(), 60))
        self.assertIn("finding", names)
        self.assertEqual(json.loads(explained)["device"], 0)
        self.assertIn("none of the files", refused)


if __name__ == "__main__":
    sys.exit(unittest.main())
