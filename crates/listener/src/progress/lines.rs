//! Bars on a terminal: [`Lines`].

use firesteel_types::StageAttemptId;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::bars::Bar;

/// Lines that look like Spark's: `[Stage 3:=====>       (12 + 4) / 100]`.
pub(super) struct Lines {
    screen: MultiProgress,
    style: ProgressStyle,
    /// From top to bottom.
    lines: Vec<(Bar, ProgressBar)>,
}

impl Lines {
    pub(super) fn new(target: ProgressDrawTarget) -> Self {
        let style = ProgressStyle::with_template("[{prefix}:{wide_bar} ({pos} + {msg}) / {len}]")
            .expect("the template has no mistake")
            .progress_chars("=> ");
        Self { screen: MultiProgress::with_draw_target(target), style, lines: Vec::new() }
    }

    /// Draws a frame in place of the last one.
    pub(super) fn draw(&mut self, frame: &[Bar]) {
        let stays = |stage: StageAttemptId| frame.iter().any(|bar| bar.stage == stage);
        for (_, line) in self.lines.extract_if(.., |(bar, _)| !stays(bar.stage)) {
            line.finish_and_clear();
            self.screen.remove(&line);
        }
        // Both are in the order of stages, and every line left is in the frame.
        for (place, &bar) in frame.iter().enumerate() {
            match self.lines.get_mut(place) {
                Some((drawn, _)) if *drawn == bar => (),
                Some((drawn, line)) if drawn.stage == bar.stage => {
                    *drawn = bar;
                    show(line, bar);
                }
                Some(_) | None => {
                    let line = ProgressBar::new(bar.total.into()).with_style(self.style.clone());
                    let line = line.with_prefix(format!("Stage {}", bar.stage.stage.0));
                    let line = self.screen.insert(place, line);
                    show(&line, bar);
                    self.lines.insert(place, (bar, line));
                }
            }
        }
    }

    /// Runs `f` while no bar is on the screen.
    pub(super) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.screen.suspend(f)
    }
}

fn show(line: &ProgressBar, bar: Bar) {
    line.set_position(bar.done.into());
    line.set_message(bar.active.to_string());
    // Overrides the library's rate limit: we draw seldom enough, and nothing may be left out.
    line.force_draw();
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;

    use super::*;
    use crate::sample::stage_id;

    fn terminal() -> (InMemoryTerm, Lines) {
        let terminal = InMemoryTerm::new(6, 50);
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 1);
        let lines = Lines::new(target);
        (terminal, lines)
    }

    fn bar(stage: u32, done: u32, active: u32, total: u32) -> Bar {
        Bar { stage: stage_id(stage, 0), total, done, active }
    }

    #[test]
    fn a_bar_shows_done_running_and_all_tasks() {
        let (terminal, mut lines) = terminal();

        lines.draw(&[bar(3, 12, 4, 100)]);
        assert_eq!(terminal.contents(), "[Stage 3:===>                      (12 + 4) / 100]");

        lines.draw(&[bar(3, 99, 1, 100)]);
        assert_eq!(terminal.contents(), "[Stage 3:========================> (99 + 1) / 100]");
    }

    #[test]
    fn every_frame_is_drawn_however_fast_they_come() {
        let (terminal, mut lines) = terminal();

        for done in 0..100 {
            lines.draw(&[bar(3, done, 4, 100)]);
            assert!(terminal.contents().ends_with(&format!("({done} + 4) / 100]")));
        }
    }

    #[test]
    fn each_stage_has_its_line_in_order_of_ids() {
        let (terminal, mut lines) = terminal();
        lines.draw(&[bar(2, 0, 1, 4), bar(5, 2, 1, 4)]);

        lines.draw(&[bar(1, 4, 0, 4), bar(2, 0, 2, 4), bar(5, 2, 1, 4)]);
        assert_eq!(
            terminal.contents(),
            "[Stage 1:============================ (4 + 0) / 4]\n\
             [Stage 2:                             (0 + 2) / 4]\n\
             [Stage 5:==============>              (2 + 1) / 4]"
        );

        lines.draw(&[bar(1, 4, 0, 4), bar(5, 3, 1, 4)]);
        assert_eq!(
            terminal.contents().lines().map(|line| &line[..9]).collect::<Vec<_>>(),
            ["[Stage 1:", "[Stage 5:"]
        );
    }

    #[test]
    fn nothing_is_left_when_the_last_stage_ends() {
        let (terminal, mut lines) = terminal();
        lines.draw(&[bar(1, 0, 1, 4), bar(2, 0, 1, 4)]);

        lines.draw(&[]);

        assert_eq!(terminal.contents(), "");
        lines.draw(&[bar(9, 0, 1, 4)]);
        assert_eq!(terminal.contents().lines().count(), 1, "and the next one begins at the top");
    }

    #[test]
    fn what_does_not_change_is_not_drawn_again() {
        let (terminal, mut lines) = terminal();
        lines.draw(&[bar(1, 0, 1, 4)]);
        terminal.moves_since_last_check();

        lines.draw(&[bar(1, 0, 1, 4)]);

        assert_eq!(terminal.moves_since_last_check(), "");
    }

    #[test]
    fn bars_are_away_while_somebody_else_writes() {
        let (terminal, mut lines) = terminal();
        lines.draw(&[bar(1, 0, 1, 4)]);

        let during = lines.suspend(|| terminal.contents());

        assert_eq!(during, "");
        assert_ne!(terminal.contents(), "", "and come back");
    }
}
