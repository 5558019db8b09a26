'use strict';
// What all pages share: what the member has (in the browser's storage), the frame of a page, small builders.
const EMPTY = {
  member: { name: 'Robin Tate', card: '4400 1001' },
  holds: [], loans: [], signups: [], lists: [], suggestions: [],
  settings: { email: 'robin.tate@example.org', phone: '', branch: 'Central', reminders: 'Email', newsletter: false },
};
const load = (key) => {
  const text = localStorage.getItem(key);
  return text === null ? EMPTY[key] : JSON.parse(text);
};
const save = (key, value) => localStorage.setItem(key, JSON.stringify(value));
const query = new URLSearchParams(location.search);

// h('a', { href: '/' }, 'Home') is an element; null and false children are left out.
const h = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false && child !== undefined));
  return element;
};
const link = (href, text) => h('a', { href }, text);
const field = (label, control) => h('label', {}, `${label} `, control);
const choice = (name, options, chosen, attributes = {}) =>
  h('select', { name, ...attributes }, options.map((option) => h('option', { selected: option === chosen }, option)));
const facts = (pairs) => h('dl', {}, pairs.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]));
const entries = (form) => Object.fromEntries(new FormData(form));

const notice = h('div', { role: 'status' });
const say = (text) => { notice.textContent = text; scrollTo(0, 0); };
// A message for the next page.
const sayNext = (text, href) => { sessionStorage.setItem('said', text); location.href = href; };

const show = (title, ...content) => {
  const member = load('member');
  document.title = `${title} - Harrow Community Library`;
  const list = (label, pairs, kind) => h('nav', { 'aria-label': label, class: kind }, h('ul', {}, pairs.map(([href, text]) => h('li', {}, link(href, text)))));
  const said = sessionStorage.getItem('said');
  sessionStorage.removeItem('said');
  document.body.replaceChildren(
    h('header', {}, h('a', { href: '/', class: 'name' }, 'Harrow Community Library'),
      list('Main', [['/catalogue.html', 'Catalogue'], ['/events.html', 'Events'], ['/branches.html', 'Branches'], ['/suggest.html', 'Suggest a purchase']], 'first'),
      h('span', { class: 'who' }, `Signed in as ${member.name}`)),
    list('Account', [['/account.html', 'My account'], ['/lists.html', 'Reading lists'], ['/settings.html', 'Settings']], 'second'),
    h('main', {}, h('h1', {}, title), notice, ...content));
  if (said) say(said);
};
