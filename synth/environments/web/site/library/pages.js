'use strict';
const PAGE_SIZE = 10;
const PAGES = {};
const branchNames = BRANCHES.map((branch) => branch.name);
const again = () => PAGES[document.body.dataset.page]();
const addDays = (date, days) => new Date(Date.parse(`${date}T00:00:00Z`) + days * 86400000).toISOString().slice(0, 10);

const searchForm = () => h('form', { action: '/catalogue.html', class: 'inline', role: 'search', 'aria-label': 'Catalogue' },
  field('Search the catalogue', h('input', { type: 'search', name: 'q', value: query.get('q') || '' })),
  field('Subject', choice('subject', ['Any', ...[...new Set(ITEMS.map((one) => one.subject))].sort()], query.get('subject') || 'Any')),
  field('Format', choice('format', ['Any', 'Book', 'Large print', 'Audiobook'], query.get('format') || 'Any')),
  h('button', {}, 'Search'));

PAGES.index = () => {
  const next = HAPPENINGS.filter((one) => one.left > 0).slice(0, 4);
  show('Welcome', h('p', {}, 'Four branches, one card. Find a book, place a hold, come to an event.'), searchForm(),
    h('h2', {}, 'Coming up'),
    h('ul', {}, next.map((one) => h('li', {}, link(`/event.html?id=${one.id}`, one.name), `, ${inWords(one.date)}, ${one.branch}`))),
    h('h2', {}, 'New on the shelves'),
    h('ul', {}, [...ITEMS].sort((a, b) => b.year - a.year || a.place - b.place).slice(0, 5).map((one) => h('li', {}, link(`/item.html?id=${one.id}`, one.title), ` by ${one.author}`))));
};

PAGES.catalogue = () => {
  const words = (query.get('q') || '').toLowerCase().split(/\s+/).filter(Boolean);
  const subject = query.get('subject') || 'Any';
  const format = query.get('format') || 'Any';
  const found = ITEMS.filter((one) => (subject === 'Any' || one.subject === subject) && (format === 'Any' || one.format === format)
    && words.every((word) => `${one.title} ${one.author} ${one.subject}`.toLowerCase().includes(word)))
    .sort((a, b) => a.title.localeCompare(b.title));
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(last, Math.max(1, parseInt(query.get('page') || '1', 10) || 1));
  const to = (number) => { const other = new URLSearchParams(query); other.set('page', number); return `/catalogue.html?${other}`; };
  show('Catalogue', searchForm(), h('p', {}, found.length === 1 ? '1 title' : `${found.length} titles`, last > 1 ? `, page ${page} of ${last}` : ''),
    h('ul', { class: 'results', 'aria-label': 'Titles' }, found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map((one) =>
      h('li', {}, link(`/item.html?id=${one.id}`, one.title), ` by ${one.author}. ${one.format}, ${one.year}.`))),
    found.length === 0 && h('p', {}, 'Nothing was found. Try fewer words.'),
    h('p', { class: 'pages' }, page > 1 && link(to(page - 1), 'Previous page'), page < last && link(to(page + 1), 'Next page')));
};

PAGES.item = () => {
  const one = item(query.get('id'));
  if (!one) { show('Not found', h('p', {}, 'There is no such title in the catalogue.')); return; }
  const holds = load('holds');
  const held = holds.find((hold) => hold.title === one.title);
  const lent = load('loans').find((loan) => loan.title === one.title);
  const lists = load('lists');
  const settings = load('settings');
  const hold = (event) => {
    event.preventDefault();
    const { branch, notify } = entries(event.target);
    save('holds', [...holds, { title: one.title, branch, notify }]);
    say(`Your hold on “${one.title}” has been placed. We will keep it for you at ${branch}.`);
    again();
  };
  const add = (event) => {
    event.preventDefault();
    const { list } = entries(event.target);
    if (lists.some((entry) => entry.list === list && entry.title === one.title)) { say(`“${one.title}” is already on “${list}”.`); return; }
    save('lists', [...lists, { list, title: one.title }]);
    say(`“${one.title}” is now on your list “${list}”.`);
  };
  show(one.title,
    facts([['Author', one.author], ['Format', one.format], ['Subject', one.subject], ['Published', String(one.year)], ['Publisher', one.publisher], ['Length', one.length], ['Shelf mark', one.shelf], ['Waiting list', one.waiting === 1 ? '1 person' : `${one.waiting} people`]]),
    h('h2', {}, 'Copies'),
    h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Branch'), h('th', {}, 'Copies'), h('th', {}, 'On the shelf'))), h('tbody', {}, one.copies.map((copy) => h('tr', {}, h('td', {}, copy.branch), h('td', {}, String(copy.all)), h('td', {}, String(copy.free)))))),
    h('h2', {}, 'Hold'),
    lent ? h('p', {}, 'You have this title on loan.') : held ? h('p', {}, `You have a hold on this title, for pickup at ${held.branch}.`)
      : h('form', { class: 'inline', 'aria-label': 'Hold', onsubmit: hold },
        field('Pickup branch', choice('branch', branchNames, settings.branch)),
        field('Tell me by', choice('notify', ['Email', 'Text message', 'Not at all'], 'Email')), h('button', {}, 'Place hold')),
    h('h2', {}, 'Reading list'),
    h('form', { class: 'inline', 'aria-label': 'Reading list', onsubmit: add }, field('List', choice('list', LISTS, LISTS[0])), h('button', {}, 'Add to list')));
};

PAGES.events = () => {
  const branch = query.get('branch') || 'Any';
  const audience = query.get('audience') || 'Any';
  const found = HAPPENINGS.filter((one) => (branch === 'Any' || one.branch === branch) && (audience === 'Any' || one.audience === audience));
  show('Events', h('form', { class: 'inline', 'aria-label': 'Filter' }, field('Branch', choice('branch', ['Any', ...branchNames], branch)),
    field('For', choice('audience', ['Any', 'Adults', 'All ages', 'Children', 'Teenagers'], audience)), h('button', {}, 'Show')),
    h('p', {}, found.length === 1 ? '1 event' : `${found.length} events`),
    h('ul', { class: 'results', 'aria-label': 'Events' }, found.map((one) => h('li', {}, link(`/event.html?id=${one.id}`, one.name), ` ${inWords(one.date)}, ${one.time}, ${one.branch}`))));
};

PAGES.event = () => {
  const one = happening(query.get('id'));
  if (!one) { show('Not found', h('p', {}, 'There is no such event.')); return; }
  const signups = load('signups');
  const mine = signups.find((entry) => entry.event === one.name);
  const join = (event) => {
    event.preventDefault();
    const places = Number(entries(event.target).places);
    save('signups', [...signups, { event: one.name, places }]);
    say(`You are signed up for “${one.name}” with ${places === 1 ? '1 place' : `${places} places`}.`);
    again();
  };
  show(one.name, facts([['Date', inWords(one.date)], ['Begins at', one.time], ['Lasts', `${one.minutes} minutes`], ['Branch', one.branch], ['Led by', one.host], ['For', one.audience], ['Cost', one.cost], ['Places left', `${one.left} of ${one.all}`]]),
    h('h2', {}, 'Sign up'),
    mine ? h('p', {}, `You are signed up with ${mine.places === 1 ? '1 place' : `${mine.places} places`}. You can cancel in your account.`)
      : one.left === 0 ? h('p', {}, 'This event is full.')
        : h('form', { class: 'inline', 'aria-label': 'Sign up', onsubmit: join }, field('Places', choice('places', ['1', '2', '3', '4'].slice(0, one.left), '1')), h('button', {}, 'Sign up')));
};

PAGES.branches = () => show('Branches', h('ul', { class: 'results' }, BRANCHES.map((one) => h('li', {}, link(`/branch.html?id=${one.id}`, one.name), ` ${one.address}`))));

PAGES.branch = () => {
  const one = BRANCHES.find((branch) => branch.id === query.get('id'));
  if (!one) { show('Not found', h('p', {}, 'There is no such branch.')); return; }
  show(`${one.name} branch`, facts([['Address', one.address], ['Telephone', one.telephone], ['Head librarian', one.lead], ['Parking', one.parking]]),
    h('h2', {}, 'Opening hours'), facts(one.hours.map((hours, day) => [DAYS[day], hours])));
};

PAGES.suggest = () => {
  const send = (event) => {
    event.preventDefault();
    const { title, author, format } = entries(event.target);
    if (!title.trim() || !author.trim()) { say('Please give a title and an author.'); return; }
    save('suggestions', [...load('suggestions'), { title: title.trim(), author: author.trim(), format }]);
    sayNext(`Thank you. We will look into “${title.trim()}”.`, '/account.html');
  };
  show('Suggest a purchase', h('p', {}, 'Is something missing from our shelves? Tell us.'),
    h('form', { 'aria-label': 'Suggestion', onsubmit: send },
      h('div', {}, field('Title', h('input', { type: 'text', name: 'title' }))), h('div', {}, field('Author', h('input', { type: 'text', name: 'author' }))),
      h('div', {}, field('Format', choice('format', ['Book', 'Large print', 'Audiobook'], 'Book'))), h('button', {}, 'Send suggestion')));
};

PAGES.account = () => {
  const loans = load('loans'); const holds = load('holds'); const signups = load('signups'); const suggestions = load('suggestions');
  const renew = (loan) => () => {
    save('loans', loans.map((one) => (one === loan ? { ...one, due: addDays(one.due, 21), renewals: one.renewals + 1 } : one)));
    say(`“${loan.title}” is renewed until ${inWords(addDays(loan.due, 21))}.`);
    again();
  };
  const drop = (key, entry, text) => () => { save(key, load(key).filter((one) => JSON.stringify(one) !== JSON.stringify(entry))); say(text); again(); };
  const none = (text) => h('p', {}, text);
  show('My account', facts([['Name', load('member').name], ['Card number', load('member').card]]),
    h('h2', {}, 'Loans'), loans.length === 0 ? none('You have nothing on loan.') : h('ul', { class: 'results', 'aria-label': 'Loans' }, loans.map((one) => h('li', {}, link(`/item.html?id=${slug(one.title)}`, one.title), `, due ${inWords(one.due)}. `,
      one.renewals >= 2 ? 'It can not be renewed again.' : h('button', { 'aria-label': `Renew ${one.title}`, onclick: renew(one) }, 'Renew')))),
    h('h2', {}, 'Holds'), holds.length === 0 ? none('You have no holds.') : h('ul', { class: 'results', 'aria-label': 'Holds' }, holds.map((one) => h('li', {}, link(`/item.html?id=${slug(one.title)}`, one.title), `, pickup at ${one.branch}. `,
      h('button', { 'aria-label': `Cancel hold on ${one.title}`, onclick: drop('holds', one, `Your hold on “${one.title}” is cancelled.`) }, 'Cancel hold')))),
    h('h2', {}, 'Events'), signups.length === 0 ? none('You are signed up for no event.') : h('ul', { class: 'results', 'aria-label': 'Events' }, signups.map((one) => h('li', {}, link(`/event.html?id=${slug(one.event)}`, one.event), `, ${one.places === 1 ? '1 place' : `${one.places} places`}. `,
      h('button', { 'aria-label': `Cancel sign-up for ${one.event}`, onclick: drop('signups', one, `Your sign-up for “${one.event}” is cancelled.`) }, 'Cancel sign-up')))),
    h('h2', {}, 'Suggestions'), suggestions.length === 0 ? none('You have made no suggestion.') : h('ul', { class: 'results', 'aria-label': 'Suggestions' }, suggestions.map((one) => h('li', {}, `${one.title} by ${one.author}, ${one.format}. `,
      h('button', { 'aria-label': `Withdraw ${one.title}`, onclick: drop('suggestions', one, `Your suggestion of “${one.title}” is withdrawn.`) }, 'Withdraw')))));
};

PAGES.lists = () => {
  const lists = load('lists');
  const remove = (entry) => () => { save('lists', lists.filter((one) => one !== entry)); say(`“${entry.title}” is no longer on “${entry.list}”.`); again(); };
  show('Reading lists', LISTS.flatMap((name) => {
    const mine = lists.filter((entry) => entry.list === name);
    return [h('h2', {}, name), mine.length === 0 ? h('p', {}, 'Nothing yet.') : h('ul', { class: 'results', 'aria-label': name }, mine.map((entry) => h('li', {}, link(`/item.html?id=${slug(entry.title)}`, entry.title), ' ',
      h('button', { 'aria-label': `Remove ${entry.title} from ${name}`, onclick: remove(entry) }, 'Remove'))))];
  }));
};

PAGES.settings = () => {
  const settings = load('settings');
  const store = (event) => {
    event.preventDefault();
    const given = entries(event.target);
    if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(given.email)) { say('Please give a valid email address.'); return; }
    if (given.reminders === 'Text message' && !given.phone.trim()) { say('Please give a mobile number for text messages.'); return; }
    save('settings', { email: given.email, phone: given.phone.trim(), branch: given.branch, reminders: given.reminders, newsletter: given.newsletter === 'on' });
    say('Your settings are saved.');
  };
  show('Settings', h('form', { 'aria-label': 'Settings', novalidate: true, onsubmit: store },
    h('div', {}, field('Email address', h('input', { type: 'email', name: 'email', value: settings.email }))),
    h('div', {}, field('Mobile number', h('input', { type: 'tel', name: 'phone', value: settings.phone }))),
    h('div', {}, field('Usual branch', choice('branch', branchNames, settings.branch))),
    h('fieldset', {}, h('legend', {}, 'Reminders before the due date'), ['Email', 'Text message', 'None'].map((kind) => h('label', {}, h('input', { type: 'radio', name: 'reminders', value: kind, checked: settings.reminders === kind }), ` ${kind}`))),
    h('div', {}, h('label', {}, h('input', { type: 'checkbox', name: 'newsletter', checked: settings.newsletter }), ' Send me the monthly newsletter')),
    h('button', {}, 'Save settings')));
};

again();
