"""The virtual crane game of the `springs` thesis, without a screen: scene, rules, a scripted player, grip trials.

    shapes.py   the heart, the gem, the football          robot.py   the crab and its fingers
    scene.py    bin, chute, prizes                         motion.py  inputs, and the crane's path within its limits
    round.py    what happens around every step; score      game.py    Game: a round and its simulation
    pilot.py    a player made of rules                     trials.py  lifting, hooking, jerking: the thesis's figures
    demos.py    rounds as files, and playing them again

The page in the browser is view/crane; it plays by the same `Round`.
"""
