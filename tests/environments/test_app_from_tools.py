"""Lists of tools become applications: entities by nouns, effects by verbs, references by ids; the rest is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from synth.environments.app.environment import AppEnvironment
from synth.environments.app.from_tools.composing import Composed, compose
from synth.environments.app.from_tools.reading import read_tools
from synth.environments.app.reading import parse_definition
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.exploration.app.requests import beginning_of

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}


def tool(name: str, properties: Schema, *required: str, about: str = "") -> Schema:
    return {
        "name": name,
        "description": about or name,
        "inputSchema": {"type": "object", "properties": properties, "required": list(required)},
    }


SHELTER = [
    tool("list_kennels", {}),
    tool("createKennel", {"name": TEXT, "places": {"type": "integer", "minimum": 1, "maximum": 9}}, "name"),
    tool("delete_kennel", {"kennel_id": TEXT}, "kennel_id"),
    tool("search_dogs", {"query": TEXT, "kennel_id": TEXT, "limit": {"type": "integer"}}),
    tool("get_dog", {"dog_id": TEXT}, "dog_id"),
    tool(
        "register_dog",
        {
            "kennel_id": TEXT,
            "name": TEXT,
            "size": {"type": "string", "enum": ["small", "large"]},
            "fee": {"type": "number"},
            "friends": {"type": "array", "items": TEXT},
        },
        "kennel_id",
        "name",
    ),
    tool(
        "update-dog", {"dog_id": TEXT, "size": {"type": "string", "enum": ["small", "large"]}, "notes": TEXT}, "dog_id"
    ),
    tool("archive_dog", {"dog_id": TEXT, "reason": TEXT}, "dog_id", "reason"),
    tool("weigh_scales", {"dog_id": TEXT}, "dog_id"),
    tool("get_weather", {"city": TEXT}, "city"),
    tool("add_photos", {"dog_id": TEXT, "photos": {"type": "array", "items": TEXT}}, "dog_id", "photos"),
]


def shelter() -> Composed:
    return compose(read_tools(json.dumps({"tools": SHELTER}), "shelter.json"), "shelter", "shelter.json")


def opened(made: Composed) -> AppEnvironment:
    return AppEnvironment(parse_definition(made.text, "shelter"))


class Desk:
    """An episode and short ways to call and look."""

    def __init__(self, made: Composed) -> None:
        environment = opened(made)
        self.episode = environment.reset(beginning_of(environment, 3))
        self.calls = 0

    def call(self, tool: str, /, **arguments: Any) -> tuple[str, str | None]:
        self.calls += 1
        result = self.episode.step(ToolCall(id=f"c{self.calls}", name=tool, arguments=arguments))
        return result.content, result.error

    def one(self, sql: str) -> Any:
        return next(iter(self.episode.look(sql, {})[0].values()))


def test_tables_columns_and_references_are_read_from_names_and_types() -> None:
    tables = yaml.safe_load(shelter().text)["tables"]
    assert set(tables) == {"kennels", "dogs"}
    dogs = tables["dogs"]["columns"]
    assert dogs["dog_id"] == {"type": "text", "key": True, "generated": True}
    assert dogs["kennel_id"]["references"] == "kennels"
    assert (dogs["fee"]["type"], dogs["size"]["in"], "friends" in dogs) == ("money", ["small", "large"], False)
    assert "archived" in dogs["status"]["in"]
    assert tables["kennels"]["columns"]["places"]["type"] == "integer"


def test_each_tool_does_what_its_verb_says() -> None:
    desk = Desk(shelter())
    kennel = desk.one("SELECT kennel_id FROM kennels ORDER BY kennel_id")
    said, error = desk.call("register_dog", kennel_id=kennel, name="Rusty", fee=1250)
    assert error is None
    dog = said.rstrip(".").split(": ")[1]
    assert desk.call("update_dog", dog_id=dog, notes="Afraid of cats.")[1] is None
    assert desk.one(f"SELECT notes || fee FROM dogs WHERE dog_id = '{dog}'") == "Afraid of cats.1250"
    assert "Rusty" in desk.call("get_dog", dog_id=dog)[0]
    assert dog in desk.call("search_dogs", query="rusty")[0]
    assert desk.call("archive_dog", dog_id=dog, reason="Found a home.")[1] is None
    assert desk.call("archive_dog", dog_id=dog, reason="Again.") == (f"Dog {dog} is archived already.", "refused")
    assert desk.call("register_dog", kennel_id="K0", name="Rex")[1] == "not_found"
    assert desk.call("update_dog", dog_id=dog)[1] == "bad_arguments"


def test_rules_follow_from_what_there_is() -> None:
    made = shelter()
    rules = {rule["name"] for section in yaml.safe_load(made.text)["policy"] for rule in section["rules"]}
    assert rules == {"kennel_name_is_new", "kennel_has_no_dogs", "dog_name_is_new", "dog_is_final"}
    desk = Desk(made)
    full = desk.one("SELECT kennel_id FROM dogs WHERE status <> 'archived' ORDER BY 1")
    assert desk.call("delete_kennel", kennel_id=full) == ("The kennel still has dogs.", "refused")
    archived = desk.one("SELECT dog_id FROM dogs WHERE status = 'archived' ORDER BY 1")
    assert desk.call("update_dog", dog_id=archived, notes="x")[1] == "refused"
    empty = desk.call("createKennel".replace("K", "_k"), name="A new one")[0].rstrip(".").split(": ")[1]
    assert desk.call("delete_kennel", kennel_id=empty)[1] is None


def test_what_cannot_be_made_is_said_in_a_line_each() -> None:
    assert set(shelter().left_out) == {
        "weigh_scales: no word of its name says whether it reads, lists, creates, updates or deletes",
        "get_weather: nothing says what is known of a weather",
        "add_photos: it must be given photos, and a column holds no list",
        "register_dog, without friends: a column holds no list",
    }


def test_the_three_forms_of_lists_make_the_same() -> None:
    openai = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]},
        }
        for t in SHELTER
    ]
    lines = "\n".join(json.dumps(one["function"]) for one in openai)
    wrapped = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"tools": SHELTER}})
    for text in (json.dumps(openai), lines, wrapped):
        assert compose(read_tools(text, "x"), "shelter", "x") == shelter()


OPENAPI = """
openapi: 3.0.0
paths:
  /parcels:
    get:
      operationId: listParcels
      parameters: [{name: page, in: query, schema: {type: integer}}]
      responses:
        "200": {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Parcel'}}}}}
    post:
      operationId: addParcel
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewParcel'}}}}
      responses: {}
  /parcels/{parcelId}:
    parameters: [{name: parcelId, in: path, required: true, schema: {type: integer}}]
    patch:
      operationId: parcels_partial_update
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/NewParcel'}}}}
      responses: {}
components:
  schemas:
    NewParcel:
      {type: object, required: [label], properties: {label: {type: string}, due_date: {type: string, format: date}}}
    Parcel:
      allOf:
        - {$ref: '#/components/schemas/NewParcel'}
        - {properties: {parcelId: {type: integer}, weight: {type: integer}}}
"""


def test_an_openapi_document_is_read_by_method_path_and_schema() -> None:
    made = yaml.safe_load(compose(read_tools(OPENAPI, "api.yaml"), "post", "api.yaml").text)
    assert set(made["tools"]) == {"list_parcels", "add_parcel", "parcels_partial_update"}
    (table,) = made["tables"].values()
    assert table["code"] == "####"
    assert set(table["columns"]) == {"parcel_id", "label", "due_date", "weight"}
    assert made["tools"]["parcels_partial_update"]["steps"][-1]["run"].startswith("UPDATE")


def test_pairs_and_places_are_told_from_columns() -> None:
    """Two ids that a tool puts together are a pair; what says where a row is, is never changed."""
    listed = [
        tool("list_labels", {}),
        tool("create_label", {"name": TEXT}, "name"),
        tool("search_issues", {"q": TEXT}),
        tool("create_issue", {"repo": TEXT, "title": TEXT}, "repo", "title"),
        tool("get_issue", {"repo": TEXT, "issue_id": TEXT}, "repo", "issue_id"),
        tool("update_issue", {"repo": TEXT, "issue_id": TEXT, "title": TEXT}, "repo", "issue_id"),
        tool("add_label_to_issue", {"issue_id": TEXT, "label_id": TEXT}, "issue_id", "label_id"),
        tool("remove_label_from_issue", {"issue_id": TEXT, "label_id": TEXT}, "issue_id", "label_id"),
    ]
    made = compose(read_tools(json.dumps(listed), "x"), "issues", "x")
    assert len(made.tools) == len(listed)
    application = yaml.safe_load(made.text)
    assert list(application["tables"]["issue_labels"]["columns"]) == ["issue_id", "label_id"]
    assert '"repo" =' not in application["tools"]["update_issue"]["steps"][-1]["run"].partition("WHERE")[0]
    desk = Desk(made)
    issue, repo = (
        desk.one("SELECT issue_id FROM issues ORDER BY 1"),
        desk.one("SELECT repo FROM issues ORDER BY issue_id"),
    )
    assert desk.call("update_issue", repo=repo, issue_id=issue, title="Other")[1] is None
    assert desk.call("update_issue", repo="elsewhere", issue_id=issue, title="Third")[1] == "not_found"
    taken = f"SELECT label_id FROM issue_labels WHERE issue_id = '{issue}'"
    label = desk.one(f"SELECT label_id FROM labels WHERE label_id NOT IN ({taken}) ORDER BY 1")
    assert desk.call("add_label_to_issue", issue_id=issue, label_id=label)[1] is None
    assert desk.call("add_label_to_issue", issue_id=issue, label_id=label)[1] == "refused"
    assert desk.call("remove_label_from_issue", issue_id=issue, label_id=label)[1] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "it lists no tool"),
        ('[{"name": "get_a"}, {"name": "get_a"}]', "stands there twice"),
        ('[{"title": "get_a"}]', "entry 0 is no tool"),
        ('{"tools": [', "it is no JSON"),
        (json.dumps([tool("mean", {"numbers": TEXT}, "numbers")]), "none of its 1 tools"),
    ],
)
def test_a_list_that_is_none_ends_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        compose(read_tools(text, "tools.json"), "x", "tools.json")
