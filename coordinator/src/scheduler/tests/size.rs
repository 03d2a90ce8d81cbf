//! A large sweep: 12 models, 2 agents, all 1,167 tasks, k = 3.

use super::world::{World, plan};
use crate::scheduler::{Input, Reply, Stage};

#[test]
fn a_decision_does_not_look_at_every_attempt() {
    // 84,024 attempts. A scan of them for each of these decisions would take minutes in a debug build.
    let mut world = World::new();
    world.check_replay = false;
    let tasks: Vec<String> = (0..1167).map(|task| format!("real_test__some_dataset_name__{task}__0")).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    for run in 0..24 {
        let mut plan = plan(&format!("run {run}"), &tasks);
        plan.k = 3;
        plan.policy.task_concurrency = 10_000;
        let decision = world.decide(Input::RunSubmitted(Box::new(plan)));
        assert_eq!(world.state.commit(&decision), []);
    }
    for worker in 0..4 {
        let name = format!("w{worker}");
        let decision = world.decide(Input::WorkerRegistered {
            session: crate::scheduler::SessionId(name.clone()),
            name,
            slots: 2500,
            environments: vec![argosy_shared::spec::EnvironmentId::HostProcess],
        });
        let _ = world.state.commit(&decision);
    }
    let mut finished = 0;
    for round in 0..2500u32 {
        let session = crate::scheduler::SessionId(format!("w{}", round % 4));
        let decision = world.decide(Input::LeaseWanted { session, free: 1 });
        assert_eq!(world.state.commit(&decision), []);
        let Reply::Leases { grants, .. } = decision.reply else { panic!() };
        for grant in grants {
            for input in [
                Input::ResultUploaded {
                    execution: grant.execution.clone(),
                    summary: crate::scheduler::ResultSummary {
                        has_answer: true,
                        issues: vec![],
                        result: super::world::blob(&grant.execution, "result"),
                    },
                },
                Input::Tick,
                Input::JudgeWanted { n: 1 },
                Input::Judged {
                    execution: grant.execution.clone(),
                    judgement: crate::scheduler::Judgement {
                        record: super::world::blob(&grant.execution, "judgement"),
                        issues: vec![],
                    },
                },
                Input::Published { execution: grant.execution.clone() },
            ] {
                let decision = world.decide(input);
                assert_eq!(world.state.commit(&decision), []);
            }
            finished +=
                usize::from(matches!(world.state.attempt(&grant.execution.attempt).unwrap().stage, Stage::Done { .. }));
        }
    }
    assert_eq!(finished, 2500);
}
