"""Group words that say the same in a report about somebody, where the lexicon does not join them.

Base forms; a verb of two words with a line below. Words that only rhyme in meaning are not here: each pair of a group
has to be one that a careful reader would let stand for the other.
"""

from typing import Final

_GROUPS: Final = """
like love enjoy prefer fond favourite favorite keen rather
want wish like prefer hope
intend plan aim intention want
start begin take_up
stop quit give_up end
buy purchase acquire get
live reside dwell home house flat base settle
work job employ employee employer profession employment office career
own possess belong property have
use employ utilise utilize rely
near close beside nearby next
every each all
day daily
week weekly
month monthly
year yearly annual annually
night nightly
hour hourly
together joint jointly common share
alone solo himself herself themselves own self unaided
wife husband spouse marry married partner
wedding marry marriage
child kid son daughter
girl daughter
boy son
mother mum mom
father dad
brother sibling
sister sibling
repair mend fix restore
run manage lead head direct operate charge boss director manager
help assist support assistant
speak talk say tell conversation
phone call ring telephone
doctor physician
bike bicycle cycle cyclist
train coach teach instruct trainer instructor teacher
move relocate
bear birth
die death dead late
former used previous formerly previously ex use_to
now current currently present presently nowadays
grow raise cultivate
cost price pay worth
win award prize give receive earn
publish release come_out appear issue
lesson class course teach teacher learn
found establish set_up start create founder
leave quit resign depart
join member membership belong
afraid fear scare frighten terrify fright
hate dislike detest loathe
sick ill unwell illness
finish complete end done
build make construct create
write author compose writer
journey trip travel tour
lend loan
borrow loan
notice find_out discover realise realize learn spot
name call title
about roughly approximately around some nearly almost
advise advice recommend suggest counsel
repeat again
meet get_together gather
free gratis unpaid volunteer voluntary
look_after care tend mind take_care
get_up rise wake
because reason cause
study student learn degree
eat meal food
drink glass cup
allergy allergic
play player
paint painter painting picture
big large
small little tiny
fast quick quickly rapid
attend come go visit participate take_part join
lead led
think opinion believe view find
win champion winner victory
title champion championship
hand give pass deliver
fire dismiss sack lay_off
fly plane flight airplane aeroplane
sail boat ship sailor
discuss talk debate
stay shelter lodge live accommodate
paddle kayak canoe row
reach contact call
talk speech lecture presentation present
operation surgery operate surgeon
hurt injure injury wound
recover heal recovery
holiday vacation
celebrate celebration party
film movie cinema
picture photo photograph image
music musician
song sing singer
book novel
university college
exam test examination
apartment flat
basement cellar
attic loft
autumn fall
lorry truck
software program app application
bug error defect fault
deploy release ship roll_out
migrate move port
meeting conference appointment
customer client
company firm business
boss manager chief supervisor
often frequently regular regularly
rarely seldom
usually normally generally mostly typically
recently lately
mostly mainly chiefly primarily largely
whole entire complete
member belong join
sell sale
money fund funding finance
pupil student
look watch
hear listen
rest break pause
dress clothes wear
responsible charge look_after
always constantly
turn_down reject decline refuse
accept agree take_on
set_aside spend
collect gather raise
store keep
carry bring
colleague workmate coworker
neighbour neighbor
friend mate pal
stay remain keep
half part
send post mail
answer reply respond response
problem trouble issue difficulty
shop store
show display present
decide decision choose choice
permit allow let permission
ban forbid prohibit
need require necessary must
abroad overseas foreign
vegetarian meatless
earn salary wage
earn make
bad poor badly poorly
use adopt
demolish tear_down pull_down
raise increase
cut reduce lower decrease
"""

APART: Final = frozenset({frozenset({"family", other}) for other in ("class", "category", "division")})
"""Pairs that only a rare sense of one of them joins."""

ALIKE: Final = tuple(frozenset(line.split()) for line in _GROUPS.split("\n") if line)
