'use strict';
// The library's holdings. Titles, people and places are invented; numbers come from a fixed seed.
const TITLES = `The Salt Road|Mara Lindqvist|Travel|Book
A Field Guide to Quiet Rivers|Tobias Ferrant|Nature|Book
Bread for a Long Winter|Ines Okafor|Cooking|Book
The Cartographer's Niece|Helen Ashdown|Fiction|Book
Seven Lamps of Harrow|Percy Dunmore|Local history|Book
Letters to an Unbuilt House|Anselm Roy|Fiction|Book
The Beekeeper's Arithmetic|Nadia Calloway|Science|Book
Night Trains of the North|Viktor Halloran|Travel|Book
Small Engines, Simply Mended|George Tansley|Crafts|Book
The Orchard at Penrose Gate|Lucy Merriweather|Fiction|Book
Weather by Hand|Ola Brandt|Science|Book
Kettle and Loom|Frances Abara|Crafts|Book
The Last Ferryman of Dove Sound|Ciaran Moffat|Fiction|Book
What the Marsh Remembers|Juno Adeyemi|Nature|Book
A Short History of Long Walks|Edmund Vale|Travel|Book
Clay, Ash and Fire|Rosa Timmins|Crafts|Book
The Widow's Observatory|Isolde Farran|Fiction|Book
Soup by Number|Hugo Pell|Cooking|Book
Harrow in Photographs|Percy Dunmore|Local history|Book
The Mathematics of Knots|Pavel Sorensen|Science|Book
Three Summers on Gull Island|Lucy Merriweather|Fiction|Book
The Allotment Year|Wendy Okoro|Gardening|Book
Pruning Without Fear|Wendy Okoro|Gardening|Book
Roots under Pavements|Dilip Marsh|Gardening|Book
The Glass Postman|Anselm Roy|Fiction|Audiobook
Tides and How to Read Them|Ola Brandt|Science|Audiobook
The Inspector Dines Alone|Martha Quill|Crime|Book
The Inspector Takes the Tram|Martha Quill|Crime|Book
The Inspector in Lisbon|Martha Quill|Crime|Audiobook
Murder at the Choir Practice|Basil Thorne|Crime|Book
A Body in the Stacks|Basil Thorne|Crime|Book
The Counterfeit Curate|Basil Thorne|Crime|Large print
The Salt Cellar Mystery|Ada Penhallow|Crime|Book
Dragons Do Not Knit|Pim Oyelaran|Children|Book
The Otter Who Counted|Pim Oyelaran|Children|Book
Goodnight, Lighthouse|Sunniva Dahl|Children|Book
Mina and the Paper Whale|Sunniva Dahl|Children|Book
The Boy Who Borrowed Thursday|Arthur Finch|Children|Audiobook
Robots of Rowan Street|Arthur Finch|Children|Book
The Long Table|Ines Okafor|Cooking|Book
Pickles and Other Promises|Hugo Pell|Cooking|Book
Canal Days|Rufus Blackwood|Local history|Large print
The Mill That Moved|Rufus Blackwood|Local history|Book
Songs from the Ropewalk|Clara Nightingale|Music|Book
Learning the Concertina|Clara Nightingale|Music|Book
The Piano Tuner's Atlas|Emil Vasary|Music|Audiobook
Moth Light|Juno Adeyemi|Nature|Audiobook
Hedges of the Low Country|Tobias Ferrant|Nature|Book
The Kingfisher Diaries|Greta Lund|Nature|Large print
Across the Ice with Six Dogs|Viktor Halloran|Travel|Audiobook
An Innkeeper's Alphabet|Edmund Vale|Travel|Large print
The Quiet Parliament|Helen Ashdown|Fiction|Large print
Ashes of Alderney Row|Isolde Farran|Fiction|Book
The Understudy|Marcus Bellweather|Fiction|Book
A House with Nine Clocks|Marcus Bellweather|Fiction|Audiobook
Ferry to Saint Orla|Ciaran Moffat|Fiction|Audiobook
Budgeting for Beginners|Tessa Grimaldi|Money|Book
The Pension Puzzle|Tessa Grimaldi|Money|Large print
Plain Words for Forms|Noor Haddad|Language|Book
Portuguese in Forty Evenings|Noor Haddad|Language|Audiobook
Stars over Small Towns|Pavel Sorensen|Science|Large print
Mending Chairs|George Tansley|Crafts|Book
The Bookbinder's Bench|Rosa Timmins|Crafts|Large print
Compost and Company|Dilip Marsh|Gardening|Audiobook`;
const BRANCHES = [
  { id: 'central', name: 'Central', address: '1 Market Square', telephone: '0555 0100', lead: 'Amara Whitlock', parking: 'Paid, behind the building', hours: ['09:00 to 19:00', '09:00 to 19:00', '09:00 to 20:00', '09:00 to 19:00', '09:00 to 18:00', '10:00 to 16:00', 'Closed'] },
  { id: 'harbour', name: 'Harbour', address: '14 Quay Street', telephone: '0555 0114', lead: 'Jonas Petrie', parking: 'None', hours: ['Closed', '10:00 to 18:00', '10:00 to 18:00', '10:00 to 20:00', '10:00 to 18:00', '10:00 to 14:00', 'Closed'] },
  { id: 'millfield', name: 'Millfield', address: '72 Spinner Lane', telephone: '0555 0172', lead: 'Beatrix Odum', parking: 'Free for two hours', hours: ['10:00 to 17:30', 'Closed', '10:00 to 17:30', '10:00 to 17:30', '10:00 to 19:00', '09:30 to 13:00', 'Closed'] },
  { id: 'northgate', name: 'Northgate', address: '5 Tannery Row', telephone: '0555 0105', lead: 'Samir Kovac', parking: 'Free', hours: ['11:00 to 18:00', '11:00 to 18:00', 'Closed', '11:00 to 18:00', '11:00 to 18:00', '10:00 to 15:00', '12:00 to 15:00'] },
];
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const EVENTS = `Seed swap|Gardening|Wendy Okoro|All ages
Knit and natter|Crafts|Frances Abara|Adults
Lego morning|Children|Arthur Finch|Children
Baby rhyme time|Children|Sunniva Dahl|Children
Family history helpdesk|Local history|Percy Dunmore|Adults
Crime readers' circle|Books|Martha Quill|Adults
Introduction to spreadsheets|Computers|Tessa Grimaldi|Adults
Phone and tablet clinic|Computers|Noor Haddad|Adults
Watercolour for beginners|Crafts|Rosa Timmins|Adults
Chess for all|Games|Pavel Sorensen|All ages
Board game evening|Games|Dilip Marsh|All ages
Poetry open microphone|Books|Juno Adeyemi|All ages
Repair café|Crafts|George Tansley|All ages
Sourdough talk|Cooking|Ines Okafor|Adults
Canal walk|Local history|Rufus Blackwood|All ages
Stargazing from the roof|Science|Ola Brandt|All ages
Concertina workshop|Music|Clara Nightingale|Adults
Writing for children|Books|Pim Oyelaran|Adults
Portuguese conversation|Language|Noor Haddad|Adults
Story time with otters|Children|Pim Oyelaran|Children
Compost surgery|Gardening|Dilip Marsh|Adults
Film club: The Glass Postman|Film|Anselm Roy|Adults
Help with forms|Advice|Tessa Grimaldi|Adults
Moth night|Nature|Juno Adeyemi|All ages
Bookbinding taster|Crafts|Rosa Timmins|Adults
Teen coding club|Computers|Ola Brandt|Teenagers`;
const LISTS = ['To read', 'Favourites', 'For the holidays'];

let seed = 20260302;
const number = (low, high) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return low + Math.floor((seed / 4294967296) * (high - low + 1));
};
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
const ITEMS = TITLES.split('\n').map((line, place) => {
  const [title, author, subject, format] = line.split('|');
  const shelf = `${subject.slice(0, 3).toUpperCase()} ${number(100, 899)}.${number(1, 9)}`;
  return {
    id: slug(title), title, author, subject, format, shelf,
    year: number(1974, 2025),
    length: format === 'Audiobook' ? `${number(4, 15)} hours` : `${number(48, 620)} pages`,
    publisher: ['Lantern Press', 'Weir & Daughters', 'Tollgate Books', 'Fenwick House'][number(0, 3)],
    copies: BRANCHES.map((branch) => ({ branch: branch.name, all: number(0, 4) })).map((one) => ({ ...one, free: Math.max(0, one.all - number(0, 3)) })),
    waiting: number(0, 9), place,
  };
});
const HAPPENINGS = EVENTS.split('\n').map((line, place) => {
  const [name, topic, host, audience] = line.split('|');
  const day = 4 + place * 2 + number(0, 1);
  const date = new Date(Date.UTC(2026, 2, day)).toISOString().slice(0, 10);
  const hour = number(9, 18);
  const all = number(8, 30);
  return {
    id: slug(name), name, topic, host, audience, date,
    time: `${String(hour).padStart(2, '0')}:${['00', '30'][number(0, 1)]}`,
    minutes: [45, 60, 90, 120][number(0, 3)],
    branch: BRANCHES[number(0, 3)].name,
    cost: ['Free', 'Free', '£2', '£5'][number(0, 3)],
    left: place % 7 === 3 ? 0 : number(3, all), all,
  };
});
const item = (title) => ITEMS.find((one) => one.title === title || one.id === title);
const happening = (name) => HAPPENINGS.find((one) => one.name === name || one.id === name);
const inWords = (date) => new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
