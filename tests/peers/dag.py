"""What README's Airflow example would run: dag.py DATE HOUR < the example

Stands in for Airflow, which takes too long to install for a test: the example is executed, and its
tasks are printed as a JSON list of {dag, task, kind, command}, in their order, with the templates
of that hour filled in. Whatever the stand-in does not know fails.
"""

import json
import re
import sys
import types

date, hour = sys.argv[1:]
tasks, dags = [], []


class DAG:
    def __init__(self, dag_id, *, schedule, start_date, catchup=None, max_active_runs=None):
        self.dag_id, self.schedule = dag_id, schedule

    def __enter__(self):
        dags.append(self)
        return self

    def __exit__(self, *_):
        dags.pop()


class Task:
    def __init__(self, *, task_id, bash_command, mode="poke", timeout=None):
        self.place = len(tasks)
        command = bash_command.replace("{{ data_interval_start | ds }}", date)
        command = command.replace("{{ data_interval_start.hour }}", str(int(hour)))
        if re.search(r"[{}]{2}", command):
            sys.exit(f"dag: this template is not known: {command}")
        kind = type(self).__name__
        tasks.append({"dag": dags[-1].dag_id, "task": task_id, "kind": kind, "command": command})

    def __rshift__(self, other):
        if other.place < self.place:
            sys.exit("dag: its tasks are not listed in their order")
        return other


class CronDataIntervalTimetable:
    def __init__(self, cron, timezone):
        assert (cron, timezone) == ("0 * * * *", "UTC")


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


module("airflow", DAG=DAG)
for package in ("providers", "providers.standard", "providers.standard.operators", "providers.standard.sensors", "timetables"):
    module(f"airflow.{package}")
module("airflow.providers.standard.operators.bash", BashOperator=type("BashOperator", (Task,), {}))
module("airflow.providers.standard.sensors.bash", BashSensor=type("BashSensor", (Task,), {}))
module("airflow.timetables.interval", CronDataIntervalTimetable=CronDataIntervalTimetable)

exec(compile(sys.stdin.read(), "README.md", "exec"))
print(json.dumps(tasks))
