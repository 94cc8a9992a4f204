"""Rating over HTTP: nothing is lost, nobody sees the parser, and nobody from outside gets in."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.waiting import wait_until
from tests.web.serve import PAIRS, Person, Rater, served, write_pairs
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import StudyError, UsageError
from parsemark.study.ratings import read_tasks
from parsemark.web.rate.ratings import sequence

RATERS, ORGANISER = "Raters open", "You, the organiser"


def exported(file: Path) -> list[dict[str, object]]:
    out = file.with_name("ratings.json")
    result = CliRunner().invoke(app, ["study", "rate", str(file), "--export", str(out), "--overwrite"])
    assert result.exit_code == 0, result.output
    pairs: list[dict[str, object]] = json.loads(out.read_text())["pairs"]
    return pairs


def test_from_pairs_to_a_study(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0.25") as (links, _):
        for number, name in enumerate(("Ada", "Bo", "Čeněk")):
            rater = Rater(links[RATERS], name)
            while (item := rater.item()) is not None:
                truth, pred = item["truth"]["raw"], item["pred"]["raw"]
                assert rater.rate(10 if truth == pred else 4 + number, comment=f"by {name}").json()["saved"]
            assert rater.get("/api/item")["progress"] == {"done": 15, "all": 15}
        organiser = Person(links[ORGANISER])
        shown = organiser.see(links[ORGANISER])
        assert "Čeněk" in shown and "15 of 15" in shown
        downloaded = organiser.get(links[ORGANISER] + "/ratings.json")
    pairs = exported(file)
    assert downloaded["pairs"] == pairs
    assert len(pairs) == 12
    assert all(p["raters"] == ["Ada", "Bo", "Čeněk"] for p in pairs)
    assert {tuple(p["ratings"]) for p in pairs} == {(10.0, 10.0, 10.0), (4.0, 5.0, 6.0)}  # type: ignore[arg-type]
    study = CliRunner().invoke(
        app,
        ["study", "run", str(tmp_path / "ratings.json"), "--no-figures", "--out", str(tmp_path / "study")],
    )
    assert study.exit_code == 0, study.output
    assert "Raters: 3" in study.output


def test_raters_are_blind_and_have_orders_of_their_own(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with served("study", "rate", str(file), "--port", "0") as (links, _):
        orders = []
        for name in ("a", "b"):
            rater = Rater(links[RATERS], name)
            seen = []
            while (item := rater.item()) is not None:
                assert "secret_parser" not in json.dumps(item)
                assert "simple" not in json.dumps(item)
                seen.append(item["truth"]["raw"])
                rater.rate(5)
            orders.append(seen)
            assert "secret_parser" not in rater.see()
    assert orders[0] != orders[1]
    assert set(orders[0]) == set(orders[1])


def test_answers_can_be_changed_and_taken_back(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        rater = Rater(links[RATERS], "a")
        rater.rate(3)
        assert rater.rate(7, place=0).json()["progress"]["done"] == 1
        assert rater.get("/api/item?place=0")["item"]["score"] == 7
        back = rater.rate(None, place=0).json()
        assert back["progress"]["done"] == 0
        assert back["item"]["place"] == 0
        assert rater.get("/api/item?place=9")["item"]["place"] == 0, "no looking ahead"
        rater.post("/api/mark", {"place": 0})
        assert rater.get("/api/item")["item"]["marked"] is True
        rater.rate(8)
        assert "100 %" in Person(links[ORGANISER]).see(links[ORGANISER])
    assert [p["ratings"] for p in exported(file)] == [[8.0]]


def test_an_answer_sent_twice_is_kept_once_and_two_tabs_agree(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        rater = Rater(links[RATERS], "a")
        for _ in range(3):
            assert rater.rate(4, place=0, nonce="the-same-nonce").status_code == 200
        # Two tabs with the same first pair: the later answer counts, and no other place is touched.
        rater.rate(6, place=0)
        rater.rate(2, place=0)
        assert rater.get("/api/item")["progress"]["done"] == 1
    assert [p["ratings"] for p in exported(file)] == [[2.0]]


def test_the_own_link_opens_the_work_elsewhere_and_names_are_not_shared(tmp_path: Path) -> None:
    with served("study", "rate", str(write_pairs(tmp_path)), "--port", "0") as (links, _):
        rater = Rater(links[RATERS], "Ada")
        rater.rate(1)
        other = Person(links[RATERS])
        taken = other.post("/api/enter", {"name": "ada"})
        assert taken.status_code == 409 and "link" in taken.json()["error"]
        code = rater.see().split('href="/join/')[1].split('"')[0]
        other.see(f"/join/{code}")
        assert other.get("/api/item")["progress"]["done"] == 1
        assert other.client.get("/join/nonsense").status_code == 404


def test_a_link_that_is_clicked_elsewhere_changes_nobody(tmp_path: Path) -> None:
    """Browsers send such cookies with links of other sites; and an address alone makes nobody another one."""
    with served("study", "rate", str(write_pairs(tmp_path)), "--port", "0") as (links, _):
        ada, bo = Rater(links[RATERS], "Ada"), Rater(links[RATERS], "Bo")
        ada.rate(1)
        code = bo.see().split('href="/join/')[1].split('"')[0]
        seen = ada.see(f"/join/{code}")
        assert "You rate here as" in seen and "Ada" in seen and "Bo" in seen
        assert ada.get("/api/item")["progress"]["done"] == 1, "still Ada"
        assert ada.client.post(f"/api/join/{code}").status_code == 403, "no page of ours said so"
        assert ada.post(f"/api/join/{code}", {}).json()["ok"]
        assert ada.get("/api/item")["progress"]["done"] == 0, "Bo now"
        assert ada.post("/api/join/nonsense", {}).status_code == 404


def test_odd_numbers_and_characters_are_no_errors_of_the_server(rate_links: dict[str, str]) -> None:
    rater = Rater(rate_links[RATERS], "odd")
    for asked in ("５²", "²", "-1", "1e3", "9" * 400, "\x00"):
        assert rater.client.get("/api/item", params={"place": asked}).status_code == 200
    assert rater.rate(5, seconds=10**400).status_code == 400
    assert rater.rate(5, seconds="long").status_code == 200
    assert rater.rate(5, comment="a\ud800b").status_code == 200
    assert rater.rate(None, place=10**400).status_code == 400
    assert rater.client.get("/picture/99999999999999999999").status_code == 404
    assert rater.post("/api/enter", {"name": ["x"]}).status_code == 400


@pytest.mark.parametrize(
    "data",
    [
        {"place": 0, "score": 11}, {"place": 0, "score": -1}, {"place": 0, "score": "7"},
        {"place": 0, "score": True},
        {"place": 99, "score": 1}, {"place": -1, "score": 1}, {"place": "0", "score": 1}, {"score": 1},
        {"place": 0, "score": 1, "comment": "x" * 5000}, {"place": 0, "score": 1, "comment": 5},
        {"place": 0, "score": 1, "nonce": ""}, {"place": 0, "score": 1, "nonce": "a b c d e f"},
    ],
)  # fmt: skip
def test_wrong_answers_are_refused(rate_links: dict[str, str], data: dict[str, object]) -> None:
    rater = Rater(rate_links[RATERS], f"wrong {json.dumps(data)[:40]}")
    assert 400 <= rater.post("/api/answer", {"nonce": "abcdefgh", **data}).status_code < 500
    assert rater.get("/api/item")["progress"]["done"] == 0


@pytest.fixture(scope="module")
def rate_links(tmp_path_factory: pytest.TempPathFactory) -> object:
    hostile = dict(
        PAIRS[0], id="x", truth="| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(2)> |"
    )
    hostile["picture"] = "../../etc/passwd.png"
    file = write_pairs(tmp_path_factory.mktemp("rate"), [*PAIRS, hostile])
    with served("study", "rate", str(file), "--port", "0") as (links, _):
        yield links


def test_other_sites_cannot_write(rate_links: dict[str, str]) -> None:
    rater = Rater(rate_links[RATERS], "csrf")
    answer = {"place": 0, "score": 1, "comment": "", "nonce": "abcdefgh"}
    send = rater.client.post
    good = {"x-parsemark": rater.csrf}
    assert send("/api/answer", json=answer).status_code == 403
    assert send("/api/answer", json=answer, headers={"x-parsemark": "0" * 64}).status_code == 403
    assert send("/api/answer", json=answer, headers={**good, "origin": "http://evil"}).status_code == 403
    assert (
        send("/api/answer", json=answer, headers={**good, "sec-fetch-site": "cross-site"}).status_code == 403
    )
    assert send("/api/answer", json=answer, headers={**good, "host": "evil.example"}).status_code == 421
    stranger = Person(rate_links[RATERS])
    assert send("/api/answer", json=answer, headers={"x-parsemark": stranger.csrf}).status_code == 403
    assert rater.get("/api/item")["progress"]["done"] == 0
    cookies = httpx.get(rate_links[RATERS], trust_env=False).headers["set-cookie"]
    assert "SameSite=Lax" in cookies and "HttpOnly" in cookies


def test_pages_can_run_nothing_foreign(rate_links: dict[str, str]) -> None:
    name = '<script>alert("name")</script>'
    rater = Rater(rate_links[RATERS], name)
    response = rater.client.get("/")
    assert "<script>alert" not in response.text and "&lt;script&gt;" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script>alert" not in Person(rate_links[ORGANISER]).see(rate_links[ORGANISER])
    assert rater.client.get("/api/item").headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../errors.py", "/assets/%2e%2e/%2e%2e/errors.py", "/assets//etc/passwd",
        "/assets/.hidden",
        "/assets/css/..%2f..%2f..%2ferrors.py", "/assets/..\\..\\errors.py", "/assets/%00", "/assets/",
        "/assets/css", "/picture/99999", "/picture/-1", "/picture/..%2f", "/organiser/guess", "/join/..%2f",
    ],
)  # fmt: skip
def test_no_path_leads_out(rate_links: dict[str, str], path: str) -> None:
    rater = Rater(rate_links[RATERS], f"path {path}"[:60])
    request = rater.client.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=path.encode())
    assert rater.client.send(request).status_code in (400, 404)


def test_pictures_are_taken_from_the_folder_alone(rate_links: dict[str, str]) -> None:
    rater = Rater(rate_links[RATERS], "pictures")
    while (item := rater.item()) is not None:
        assert item["picture"] is False
        assert rater.client.get(f"/picture/{item['place']}").status_code == 404
        rater.rate(1)


def test_large_bodies_are_refused(rate_links: dict[str, str]) -> None:
    rater = Rater(rate_links[RATERS], "large")
    headers = {"x-parsemark": rater.csrf, "content-type": "application/json"}
    assert rater.client.post("/api/answer", content=b"x" * 70_000, headers=headers).status_code == 413

    def endless() -> object:
        for _ in range(100):
            yield b"x" * 4096

    assert rater.client.post("/api/answer", content=endless(), headers=headers).status_code == 413  # type: ignore[arg-type]
    assert rater.client.post("/api/answer", content=b"[" * 60_000, headers=headers).status_code == 400
    assert rater.client.post("/api/answer", content=b"{}", headers=headers).status_code == 404


def test_another_interface_needs_the_token(tmp_path: Path) -> None:
    with served("study", "rate", str(write_pairs(tmp_path)), "--port", "0", "--host", "0.0.0.0") as (
        links,
        _,
    ):
        link = links[RATERS]
        base, token = link.split("?token=")
        local = f"http://127.0.0.1:{httpx.URL(base).port}"
        stranger = httpx.Client(base_url=local, trust_env=False, follow_redirects=True)
        for path in ("/", "/api/item", "/assets/css/base.css", "/?token=guess", "/?token="):
            assert stranger.get(path).status_code == 403, path
        assert stranger.post("/api/enter", json={"name": "x"}).status_code == 403
        guest = Rater(f"{local}/?token={token}", "guest")
        assert guest.rate(4).status_code == 200
        assert token not in guest.see()
        for name in ("parsers.example", "10.1.2.3:80"):  # a proxy's, or any that leads here
            assert guest.client.get("/", headers={"host": name}).status_code == 200
            assert httpx.get(local, headers={"host": name}, trust_env=False).status_code == 403
        away = httpx.get(f"{local}//evil.example/?token={token}", trust_env=False)
        assert away.headers.get("location", "/").startswith("/evil.example")


def test_killed_at_any_moment_it_has_kept_what_it_confirmed(tmp_path: Path) -> None:
    """Four raters answer while the server is killed without warning; each waits for the server and goes
    on.
    """
    file = write_pairs(tmp_path, [dict(PAIRS[0], id=f"p{k}") for k in range(60)])
    confirmed: Counter[tuple[str, int, float]] = Counter()
    lock = threading.Lock()
    raters: list[Rater] = []

    def n_confirmed() -> int:
        with lock:
            return confirmed.total()

    def has_gone_on(before: int, running: list[Future[None]]) -> bool:
        return n_confirmed() > before or all(job.done() for job in running)

    for round_number in range(3):
        with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, process):
            raters = raters or [Rater(links[RATERS], f"r{k}") for k in range(4)]
            for rater in raters:
                rater.go_to(links[RATERS])

            def work(rater: Rater, seed: int) -> None:
                try:
                    while (item := rater.item()) is not None:
                        score = (item["place"] * 7 + seed) % 11
                        rater.rate(score, place=item["place"]).raise_for_status()
                        with lock:
                            confirmed[rater.name, item["place"], score] += 1
                except (httpx.HTTPError, ValueError):
                    return

            before = n_confirmed()
            with ThreadPoolExecutor(4) as pool:
                running = [pool.submit(work, rater, k + round_number) for k, rater in enumerate(raters)]
                wait_until(partial(has_gone_on, before, running))
                time.sleep(0.2)
                process.send_signal(signal.SIGKILL)
                for job in running:
                    job.result()
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0") as (links, _):
        for rater in raters:
            rater.go_to(links[RATERS])
        kept = {
            (rater.name, place, item["score"])
            for rater in raters
            for place in range(60)
            if (item := rater.get(f"/api/item?place={place}")["item"]) is not None and item["place"] == place
        }
    assert confirmed, "something was rated before the server died"
    assert set(confirmed) <= kept


def test_many_raters_at_once_lose_nothing(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    with served("study", "rate", str(file), "--port", "0", "--repeats", "0.5") as (links, _):

        def work(number: int) -> None:
            rater = Rater(links[RATERS], f"rater {number}")
            while rater.item() is not None:
                rater.rate(number % 11).raise_for_status()

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(work, range(20)))
    pairs = exported(file)
    assert len(pairs) == 12
    assert all(sorted(p["ratings"]) == sorted(float(k % 11) for k in range(20)) for p in pairs)  # type: ignore[call-overload]


@given(st.integers(0, 40), st.floats(0, 1), st.integers(0, 10**6))
def test_orders_hold_every_pair_and_repeats_follow(n: int, share: float, seed: int) -> None:
    pairs = [f"p{k}" for k in range(n)]
    order = sequence(pairs, share, seed)
    firsts = [name for name, again in order if not again]
    assert sorted(firsts) == sorted(pairs)
    seen: dict[str, int] = {}
    for place, (name, again) in enumerate(order):
        if again:
            assert name in seen
            assert place - seen[name] >= min(5, n - 1)
        else:
            seen[name] = place
    assert sum(again for _, again in order) <= n
    assert order == sequence(pairs, share, seed)


def test_an_export_replaces_no_other_file(tmp_path: Path) -> None:
    file, other = write_pairs(tmp_path), tmp_path / "notes.json"
    other.write_text("mine")
    pairs = file.read_text()
    for target, options in ((file, []), (file, ["--overwrite"]), (other, [])):
        done = CliRunner().invoke(app, ["study", "rate", str(file), "--export", str(target), *options])
        assert isinstance(done.exception, UsageError), done.output
    assert file.read_text() == pairs and other.read_text() == "mine"
    assert exported(file) == []


def test_what_a_file_says_of_its_pairs_is_not_looked_at_and_lost_ones_are_named(tmp_path: Path) -> None:
    said = ({"ratings": [11]}, {"ratings": []}, {"ratings": "?", "metrics": 1}, {}, {"colour": 1})
    pairs = [{"id": f"p{k}", "truth": "a,b\n1,2\n", "pred": "a", **more} for k, more in enumerate(said)]
    file = write_pairs(tmp_path, pairs)
    assert [pair.id for pair in read_tasks(file).pairs] == ["p0", "p1", "p2", "p3"]
    done = CliRunner().invoke(app, ["study", "rate", str(file), "--export", str(tmp_path / "out.json")])
    assert done.exit_code == 0 and "pair 5 ('p4'): colour: unknown key" in done.stderr


def test_files_that_cannot_be_rated_are_told(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    for text, message in (
        ("nothing", "not JSON"),
        ('{"pairs": []}', "no pairs"),
        ('{"pairs": [{"id": "a"}]}', "truth"),
        (json.dumps({"pairs": [{"id": "a", "truth": "t", "pred": "p"}] * 2}), "two pairs"),
        ('{"kind": "poem", "pairs": []}', "kind"),
    ):  # fmt: skip
        file.write_text(text)
        with pytest.raises(StudyError, match=message):
            read_tasks(file)
