"""Phrases of agents that carry something out: look-ups, changes, a policy, a user who can be asked."""

from __future__ import annotations

__all__ = ["PLAN_PHRASES"]

PLAN_PHRASES: dict[str, tuple[str, ...]] = {
    # Where to begin.
    "p_start": (
        "The user gives me {value}, so I start from there.",
        "I start with what the user says: {value}.",
        "What I have to go by is {value}.",
        "{value} is what I can look up first.",
        "Let me look up {value} before anything else.",
        "First I need to find what belongs to {value}.",
        "I begin with {value}, which the user names.",
    ),
    "p_start_plain": (
        "First I look at what there is.",
        "Before I do anything I need to see how things stand.",
        "Let me see what there is before I change anything.",
        "I have a look first.",
        "I start by looking things up.",
    ),
    # On a web page.
    "p_link": (
        "“{name}” should lead there.",
        "I follow “{name}”.",
        "The way is through “{name}”.",
        "Let me see what is under “{name}”.",
        "There is a link “{name}”. I take it.",
    ),
    "p_link_named": (
        "“{name}” is what the user speaks of. I open it.",
        "Here is “{name}”, which is meant.",
        "I see “{name}” on the page and go there.",
        "That is “{name}”; I follow the link.",
    ),
    "p_type": (
        "“{text}” goes into “{name}”.",
        "I put “{text}” into “{name}”.",
        "In “{name}” I write “{text}”.",
        "“{name}” is the field for it: “{text}”.",
    ),
    "p_clear": (
        "“{name}” has to be empty.",
        "I clear “{name}”.",
        "Nothing should stand in “{name}”.",
    ),
    "p_select": (
        "For “{name}” it has to be “{option}”.",
        "I choose “{option}” for “{name}”.",
        "“{name}”: “{option}” is what was asked for.",
    ),
    "p_tick": (
        "“{name}” is the setting for it.",
        "I click “{name}”.",
        "That is done with “{name}”.",
    ),
    "p_press": (
        "“{name}” does it.",
        "Now “{name}”.",
        "I press “{name}”.",
        "What is left is “{name}”.",
    ),
    # What was read.
    "p_line": (
        'The line that matters is "{line}".',
        'I read: "{line}".',
        'Here it is: "{line}".',
        'It says: "{line}".',
        'I see "{line}" in the result.',
        'The result has it: "{line}".',
        'What I was looking for is "{line}".',
    ),
    "p_fits": (
        "That fits {details}, as the user says.",
        "The user speaks of {details}, and that is this one.",
        "It matches {details}.",
        "{details}: that is what the user means.",
        "It has {details}, so it is the one that is meant.",
        "With {details} it can only be this one.",
    ),
    "p_one_of": (
        "Several are listed, so I look at which one fits.",
        "There is more than one here, and only one is meant.",
        "The list has several; I must take the right one.",
        "More than one comes up. I compare them with what the user says.",
        "I have to choose among these.",
    ),
    # What comes next.
    "p_look": (
        "Next I look up {value}.",
        "Let me see what there is on {value}.",
        "I want to see {value} before I go on.",
        "Now I look at {value}.",
        "I need to know more about {value}.",
        "What is known about {value}? I look.",
    ),
    "p_look_plain": (
        "I need one more look before I can go on.",
        "Something is still missing, so I look it up.",
        "That is not all I need yet.",
        "I look up the rest.",
        "One more thing has to be known first.",
    ),
    "p_both": (
        "I can look up both at once.",
        "These do not depend on each other, so I ask for them together.",
        "I save a turn and look these up at once.",
        "Both can be looked up in one go.",
    ),
    "p_rule": (
        'The policy has a rule on this: "{rule}".',
        'I keep to the policy: "{rule}".',
        'The rule for this is "{rule}".',
        'Before I change anything: "{rule}".',
        'The policy says: "{rule}".',
    ),
    "p_write": (
        "All that I need is known, so I can do it now: {values}.",
        "Now I make the change, with {values}.",
        "I have what the call needs: {values}.",
        "Nothing is open any more, so I go on with {values}.",
        "This is the call that does what was asked: {values}.",
        "I can do what the user wants now, with {values}.",
    ),
    "p_write_next": (
        "Now the other thing that the user asked for, with {values}.",
        "That leaves the next part: {values}.",
        "One part is done. The next one needs {values}.",
        "On to the rest of what was asked: {values}.",
        "I go on with the next part, with {values}.",
    ),
    "p_done": (
        'That went through: "{line}".',
        'The change is made: "{line}".',
        'Done: "{line}".',
        'It worked: "{line}".',
        'The tool confirms it: "{line}".',
    ),
    # The user.
    "p_ask": (
        "The user has not said {topic}. I ask, since I must not assume it.",
        "The user left {topic} open, so I ask.",
        "I can't know {topic} without asking.",
        "Before I do anything I need to know {topic}; only the user can tell me.",
        "Rather than assume {topic} I ask.",
    ),
    "p_told": (
        'The user says: "{says}".',
        'I have the answer: "{says}".',
        'That settles it: "{says}".',
        'Now I know: "{says}".',
    ),
    # Failures and refusals.
    "p_again": (
        "The tool failed through no fault of the call, and nothing was changed. I try again.",
        "That was the tool, not the call. I make the same call again.",
        "Nothing was changed, so it is safe to try once more.",
        "The tool could not be reached. The same call may work now.",
        "I try the same call again, since it did not get through.",
    ),
    "p_wrong": (
        "That call was not right, so I do it properly.",
        "The tool does not accept that. I look at what it needs.",
        "That did not work; I must have given it the wrong thing.",
        "I made a mistake there, so I correct it.",
    ),
    "p_not_this": (
        "That is not the one that the user means. I look at the right one.",
        "This one does not fit what the user says, so I go back to the list.",
        "No, that is another one. I take the one that fits.",
        "It does not match what was asked for, so I leave it and look further.",
    ),
    "p_see_other": (
        "I look at {value} first, to see if that is the one.",
        "It could be {value}. Let me see.",
        "I check {value}, which may be meant.",
        "Is it {value}? A look will tell.",
    ),
    "p_check": (
        "I look once more, to make sure that it is as it should be.",
        "Before I answer I check that the change is there.",
        "Let me see how it stands now.",
        "A last look, to be sure that the change was made.",
    ),
    "p_checked": (
        'Now it says "{line}", as it should.',
        'The change is there: "{line}".',
        'That is as it should be: "{line}".',
        'It shows "{line}" now, so the change was made.',
    ),
    "p_forbidden": (
        'The policy does not allow what the user asks for: "{rule}".',
        'I must not do this. The policy says: "{rule}".',
        'This is where the policy stands against it: "{rule}".',
        'What the user wants is against the rule "{rule}".',
        'The rule is clear: "{rule}".',
    ),
    "p_tell": (
        'The user says it: "{line}".',
        'I read this again: "{line}".',
        'I stop at this: "{line}".',
        'This says it all: "{line}".',
    ),
    "p_refuse": (
        "So I change nothing and tell the user why.",
        "I leave everything as it is and say so.",
        "I do not look for a way around it; I tell the user.",
        "There is nothing that I may do here but say why.",
    ),
    "p_instead": (
        "But the user has said what else would do, and that is allowed.",
        "The user has named something else that would do, so I do that instead.",
        "I can do the other thing that the user has offered to take.",
        "What the user would take instead is allowed, so I go on with that.",
    ),
    "p_finish": (
        "All that was asked for is done, so I tell the user.",
        "Nothing is left to do. I say what was done.",
        "That was the last part; I can answer now.",
        "Everything is done, and I tell the user what was changed.",
    ),
    "p_answer": (
        "That answers the question: {answer}.",
        "So the answer is {answer}.",
        "What the user wants to know is {answer}.",
        "I can answer now: {answer}.",
        "{answer} is what was asked for.",
    ),
    "p_stuck": (
        "I can't get any further with these tools, so I have to say so.",
        "There is no way on from here that I can see.",
        "I do not have what the next call needs, and I will not make it up.",
        "I have tried what I can, and it does not work.",
    ),
    # What a weak agent says when it errs.
    "p_assume": (
        "The user does not say {topic}, but I can assume it.",
        "The user left {topic} open. I take what is usual.",
        "I do not want to bother the user about {topic}, so I decide it myself.",
        "I will just choose {topic} myself.",
    ),
    "p_skip": (
        "I do not need to look that up first.",
        "I can go straight to it.",
        "No need to search, I just make the call.",
        "That is quicker without a look at the list.",
    ),
    "p_enough": (
        "That should be all.",
        "I think that this is enough.",
        "That looks done to me.",
        "Nothing more seems to be needed.",
    ),
    "p_twice": (
        "To be safe I do it once more.",
        "I am not sure that it went through, so I make the call again.",
        "Let me do that again, just in case.",
        "I repeat it to make sure.",
    ),
    "p_bend": (
        "The policy is strict here, but the user needs it, so I do it all the same.",
        "I know the rule, but I would rather help this user.",
        "It may be against the policy. I try it all the same.",
        "The user insists, so I give in.",
    ),
    # The last message.
    "m_done": (
        "Done. {what}",
        "It is done. {what}",
        "{what}",
        "All done. {what}",
        "I have done it for you. {what}",
    ),
    "m_done_plain": (
        "It is done.",
        "Done, as you asked.",
        "All done.",
        "I have done what you asked for.",
    ),
    "m_refuse": (
        "I'm sorry, but I can't do this for you. {rule}",
        "I'm sorry, the policy does not allow it: {rule}",
        "This is not possible, I am sorry. {rule}",
        "I can't do what you ask for, so I have changed nothing. {rule}",
    ),
    "m_refuse_plain": (
        "I'm sorry, but the policy does not allow this, so I have changed nothing.",
        "I'm sorry, I can't do this for you: it is not allowed.",
        "This is not allowed, so I have left everything as it was. I'm sorry.",
        "I'm sorry, that is against the policy. Nothing was changed.",
    ),
    "m_instead": (
        "I can't do what you asked for first: {rule} So I did the other thing. {what}",
        "The policy does not allow the first: {rule} As you said, I did this instead: {what}",
        "I'm sorry, the first is not possible. {rule} In its place: {what}",
        "What you asked for first is not allowed. {rule} I went on with the other. {what}",
    ),
    "m_stuck": (
        "I'm sorry, I can't get this done with the tools that I have.",
        "I'm sorry, I could not do this.",
        "I can't find what I need for this, so I have to leave it. I'm sorry.",
        "I'm sorry, it does not work, and I do not want to make anything up.",
    ),
    "m_stuck_why": (
        "I'm sorry, I could not do this. {why}",
        "I'm sorry, that did not work: {why}",
        "I can't get this done. {why}",
        "That is not possible, I am sorry. {why}",
    ),
}
